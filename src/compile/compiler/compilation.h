// SPDX-License-Identifier: Apache-2.0
// One compile: the order of evaluation (passes.cc), and the catalog operations that evaluated code
// can call (host.cc). Separate classes hold the data: definitions and types by name, the table of
// resources, scopes, overrides, collectors.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "compile/compiler/autoloader.h"
#include "compile/compiler/collectors.h"
#include "compile/compiler/compile.h"
#include "compile/compiler/definition.h"
#include "compile/compiler/history.h"
#include "compile/compiler/overrides.h"
#include "compile/compiler/resource_table.h"
#include "compile/compiler/resource_types.h"
#include "compile/compiler/ruby_catalog.h"
#include "compile/compiler/scopes.h"
#include "language/evaluator/interpreter.h"
#include "language/types/dynamic.h"

namespace bunraku::compiler {

/// `a -> b`, evaluated once the catalog is complete (Puppet::Parser::Relationship).
struct Relationship {
    struct Side {
        Collector* collector = nullptr;
        const types::Type* reference = nullptr;
    };
    Side source, target;
    bool subscription = false;
};

class Compilation final : public evaluator::CatalogHost {
public:
    explicit Compilation(Request& request);
    ~Compilation() override;

    /// Runs all passes up to and including validation.
    void run();
    const std::vector<Pass>& passes() const { return passes_; }
    /// Prepares variables, settings and the main class without a manifest, for plain evaluation.
    void prepare_bare();
    value::Value evaluate_text(const std::string& text, const std::string& source_name);
    std::shared_ptr<catalog::Catalog> emit();
    /// Runs the config_version of the environment. Throws if the environment's settings forbid a
    /// compile.
    void check_environment();

    // ---- evaluator::CatalogHost (host.cc) ----
    Value create_resources(evaluator::Interpreter& in, Scope& scope, syntax::ResourceForm form,
                           std::string_view type_name, std::span<const std::string_view> titles,
                           std::span<const evaluator::Attribute> attributes,
                           const syntax::Node* site, evaluator::TitleKind kind) override;
    void variable_changed(Scope& scope, std::string_view name, const Value& was,
                          const Value& now) override;
    void set_defaults(evaluator::Interpreter& in, Scope& scope, std::string_view type_name,
                      std::span<const evaluator::Attribute> attributes,
                      const syntax::Node* site) override;
    void override_resources(evaluator::Interpreter& in, Scope& scope,
                            std::span<const types::Reference> references,
                            std::span<const evaluator::Attribute> attributes,
                            const syntax::Node* site) override;
    Value relate(evaluator::Interpreter& in, Scope& scope, const Value& left, const Value& right,
                 syntax::Op op, const syntax::Node* site) override;
    Value collect(evaluator::Interpreter& in, Scope& scope, const syntax::CollectExpression& node,
                  std::string_view type_name,
                  std::span<const evaluator::Attribute> overrides) override;
    Value resource_parameter(evaluator::Interpreter& in, Scope& scope, const types::Reference& ref,
                             std::string_view parameter, const syntax::Node* site) override;
    std::vector<Value> include_classes(evaluator::Interpreter& in, Scope& scope,
                                       std::span<const std::string_view> names,
                                       const syntax::Node* site) override;
    void contain_classes(evaluator::Interpreter& in, Scope& scope,
                         std::span<const std::string_view> names,
                         const syntax::Node* site) override;
    void require_classes(evaluator::Interpreter& in, Scope& scope,
                         std::span<const std::string_view> names,
                         const syntax::Node* site) override;
    void realize(evaluator::Interpreter& in, Scope& scope,
                 std::span<const types::Reference> references, const syntax::Node* site) override;
    void tag(Scope& scope, std::span<const std::string_view> tags) override;
    bool tagged(Scope& scope, std::span<const std::string_view> tags) override;
    void set_noop(Scope& scope, std::optional<bool> noop) override;
    bool resource_declared(std::string_view type_name, std::string_view title) override;
    bool class_declared(std::string_view name) override;
    bool class_known(std::string_view name) override;
    bool define_known(std::string_view name) override;
    bool resource_type_known(std::string_view name) override;
    std::vector<std::string_view> declared_titles(std::string_view type_name) override;
    std::string declared_reference(std::string_view type_name, std::string_view title) override;
    Value declared_parameter(std::string_view type_name, std::string_view title,
                             std::string_view parameter) override;
    std::string scope_label(Scope& scope) override;
    Scope* class_scope(std::string_view class_name) override;

    // ---- creating and changing resources (resources.cc) ----
    /// Whether a resource gets the default parameters of its scope.
    enum class DefaultParameters { Set, Omit };
    /// The arguments of make_resource().
    struct NewResource {
        const ResourceType& type;
        std::string_view title;
        Scope* scope = nullptr;
        std::vector<Param> params = {};
        const Definition* source = nullptr;
        std::string_view file = {};
        int line = 0;
        DefaultParameters defaults = DefaultParameters::Set;
        evaluator::TitleKind title_kind = evaluator::TitleKind::Text;
    };
    Resource& make_resource(const NewResource& wanted);
    void add_resource(Scope* scope, Resource& resource);
    void set_parameter(Resource& resource, Param param);
    void add_override(Resource& override_resource);
    void merge(Resource& target, const Resource& override_resource);
    Value convert(const Value& v);
    std::vector<Param> params_from(std::span<const evaluator::Attribute> attributes, Scope& scope);
    void tag_value(Tags& tags, const Value& v);

    // ---- classes, defines, nodes (instances.cc) ----
    void evaluate_resource(Resource& resource);
    Resource& ensure_in_catalog(Definition& definition, Scope* scope,
                                const std::vector<Param>* parameters);
    enum class Evaluation { Now, Lazy };
    std::vector<Resource*> evaluate_classes(std::span<const std::string_view> names, Scope* scope,
                                            Evaluation when);

    // ---- the data ----
    base::Arena& arena() { return *request_.arena; }
    evaluator::Interpreter& interpreter() { return *interpreter_; }
    types::Context& types() { return interpreter_->types(); }
    Definitions& definitions() { return definitions_; }
    ResourceTypes& resource_types() { return resource_types_; }
    ResourceTable& table() { return table_; }
    Collectors& collectors() { return collectors_; }
    /// Returns the names of the evaluated classes, in order.
    std::span<const std::string_view> classes() const { return classes_; }
    /// Returns null if the compile records no history.
    History* history() const { return request_.history; }
    void list_class(std::string_view name) { classes_.push_back(name); }
    const Tags& tags() const { return tags_; }
    /// Returns what the compile evaluates at the moment (read_locations.cc).
    Reader reader() const;
    Request& request() { return request_; }
    TagTable& tag_table() { return tag_table_; }
    base::LogSink& log() { return *request_.log; }
    bool raw_tagged(const Resource& resource, std::uint32_t tag_id) const;
    const types::Type* reference_to(const Resource& resource);

private:
    void decode_node_data();

    // The passes, in order. passes.cc defines what is true after each; debug builds check it.
    struct Step;
    static const Step kSteps[];
    void set_node_parameters();
    const value::HashRep& merge_node_variables();
    void create_settings();
    void evaluate_main();
    void evaluate_node();
    void evaluate_node_classes();
    void evaluate_generators();
    bool evaluate_collections();
    bool evaluate_definitions();
    void finish();
    void fail_on_unevaluated();
    void validate();
    bool check_node_parameters() const;
    bool check_settings() const;
    bool check_main() const;
    bool check_node() const;
    bool check_node_classes();
    bool check_generators() const;
    bool check_finished() const;
    bool check_nothing_waits() const;

    // resources.cc
    void set_title(Resource& resource, std::string_view title);
    void tag_by_type_and_title(Resource& resource);
    void set_default_parameters(Resource& resource, Scope* scope);

    // finish.cc
    void finish_resource(Resource& resource);
    void validate_resource(Resource& resource);
    void evaluate_relationships();
    struct SharedLists;
    void make_relationship(SharedLists& shared, const types::Type* source,
                           Resource* source_resource, const types::Type* target,
                           Resource* target_resource, bool subscription);
    void add_metaparameters();

    // instances.cc
    void evaluate_code(Resource& resource);
    class ParameterSetter;
    void set_resource_parameters(Resource& resource, Scope& scope, Definition& definition);
    /// Returns the declared return type of the function of a Deferred value, or null.
    const types::Type* deferred_type(const Value& later);
    void validate_hash(const Resource& resource, Definition& definition,
                       const value::HashRep& given);
    void add_edge_to_stage(Resource& resource);
    void instantiate_resource(Definition& definition, Scope* scope, Resource& resource);
    void finish_evaluation(Resource& resource);
    Scope* new_scope(Scope* dynamic_parent, const Definition* source, Resource* resource);

    Relationship::Side side_of(const Value& v);
    void populate_settings();

    Request& request_;
    std::unique_ptr<evaluator::Interpreter> interpreter_;
    TagTable tag_table_;
    Definitions definitions_;
    ResourceTypes resource_types_;
    ResourceTable table_;
    Autoloader autoloader_;
    RubyCatalog ruby_catalog_;
    Scopes scopes_;
    Overrides overrides_;
    Collectors collectors_;
    std::vector<Relationship> relationships_;

    /// The resources that the compiler lists: all but the stage and the settings.
    base::ArenaVector<Resource*> resources_;
    /// classes, defines and nodes that may need evaluation
    base::ArenaVector<Resource*> instances_;
    std::vector<std::string_view> classes_;
    Tags tags_;
    ArenaMap<std::string_view, Scope*> class_scopes_;

    std::vector<const Resource*> evaluating_;  ///< classes, defines and nodes, the innermost last
    std::vector<Pass> passes_;                 ///< passes that have run
    std::optional<std::string> version_;       ///< output of the environment's config_version
    bool settings_populated_ = false;
    Scope* settings_scope_ = nullptr;
    Scope* node_scope_ = nullptr;
    Resource* main_resource_ = nullptr;
    std::optional<regex::Match> node_match_;
    std::string node_match_subject_;
    std::vector<std::shared_ptr<const environment::ParsedFile>> kept_files_;
};

}  // namespace bunraku::compiler
