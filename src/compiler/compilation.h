// The state of one compile, and all that happens to it; the passes stand in the files named behind
// each group.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "compiler/collector.h"
#include "compiler/compile.h"
#include "compiler/definition.h"
#include "compiler/resource.h"
#include "evaluator/interpreter.h"
#include "evaluator/member_host.h"
#include "template/ruby_session.h"
#include "types/dynamic.h"

namespace bunraku::compiler {

/// `a -> b`, evaluated when everything is there (Puppet::Parser::Relationship).
struct Relationship {
    struct Side {
        Collector* collector = nullptr;
        const types::Type* reference = nullptr;
    };
    Side source, target;
    bool subscription = false;
};

/// What hangs on a class, define, node or top scope (Scope::extra).
struct ScopeData {
    const Definition* source = nullptr;
    /// Resource defaults set here, by capitalised type.
    std::vector<std::pair<std::string_view, std::vector<Param>>> defaults;
    /// Defaults for every native type, behind those of a type's own: function noop().
    std::vector<Param> every_type;
};

class Compilation final : public evaluator::CatalogHost,
                          public evaluator::DefinitionHost,
                          public evaluator::MemberHost,
                          public templates::CatalogQueries {
public:
    explicit Compilation(Request& request);
    ~Compilation() override;

    /// Everything up to and including validation.
    void run();
    const std::vector<Pass>& passes() const { return passes_; }
    /// Variables, settings and the main class without a manifest: for plain evaluation.
    void prepare_bare();
    value::Value evaluate_text(const std::string& text, const std::string& source_name);
    std::shared_ptr<catalog::Catalog> emit();
    /// Throws where the environment's settings forbid a compile; runs its config_version.
    void check_environment();

    // ---- evaluator::CatalogHost (host.cc) ----
    Value create_resources(evaluator::Interpreter& in, Scope& scope, syntax::ResourceForm form,
                           std::string_view type_name, std::span<const std::string_view> titles,
                           std::span<const evaluator::Attribute> attributes,
                           const syntax::Node* site, bool titles_are_text) override;
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
    void set_noop(Scope& scope, bool noop) override;
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

    // ---- evaluator::DefinitionHost (definitions_host.cc) ----
    const evaluator::Callable* find_function(evaluator::Interpreter& in,
                                             std::string_view name) override;
    const evaluator::Callable* find_ruby_function(evaluator::Interpreter& in, std::string_view name,
                                                  bool legacy);
    const types::Type* find_type(evaluator::Interpreter& in, std::string_view name) override;
    const types::Type* find_ruby_data_type(evaluator::Interpreter& in, std::string_view key);
    std::optional<Value> call_member(evaluator::Interpreter& in, Scope& scope,
                                     const Value& receiver, std::string_view name,
                                     std::span<const Value> args) override;
    Scope* class_scope(std::string_view class_name) override;

    // ---- templates::CatalogQueries (ruby_catalog.cc) ----
    std::vector<std::string> class_names() override;
    std::vector<std::string> catalog_tags() override;
    std::vector<std::string> scope_tags(Scope& scope) override;
    std::vector<std::pair<std::string, std::string>> declared_resources() override;
    std::optional<Value> resource_parameters(std::string_view type,
                                             std::string_view title) override;
    std::vector<std::string> resource_tags(std::string_view type, std::string_view title) override;
    std::pair<std::string, std::string> scope_resource(Scope& scope) override;
    Value scope_defaults(Scope& scope, std::string_view type) override;
    void define_class(std::string_view name) override;
    void add_class_resource(std::string_view name) override;
    bool evaluate_class(std::string_view name) override;

    // ---- the catalog (table.cc) ----
    /// By type and title, aliases and other spellings of the name included; null: not there.
    Resource* find(std::string_view type, std::string_view title);
    /// By "Type[title]"; throws where the text is no reference.
    Resource* find_reference(std::string_view reference);
    Resource* find(const types::Reference& reference);
    /// Another resource with the same name (not title) as this one, which is not in the catalog
    /// yet.
    Resource* find_by_name(const Resource& resource);
    void add_to_catalog(Resource& resource);
    void add_edge(Resource& source, Resource& target);
    base::ArenaVector<Resource*>& of_type(std::string_view type);

    // ---- making and changing resources (resources.cc) ----
    ResourceType find_resource_type(std::string_view name);
    Resource& make_resource(const ResourceType& type, std::string_view title, Scope* scope,
                            std::vector<Param> params, const Definition* source,
                            std::string_view file, int line, bool with_defaults = true,
                            bool title_is_text = true);
    void add_resource(Scope* scope, Resource& resource);
    void set_parameter(Resource& resource, Param param);
    void add_override(Resource& override_resource);
    void merge(Resource& target, const Resource& override_resource);
    std::vector<Param> defaults_for(Scope* scope, std::string_view type);
    bool is_default(Scope* scope, std::string_view type, std::string_view param, const Value& v);
    Value convert(const Value& v);
    std::vector<Param> params_from(std::span<const evaluator::Attribute> attributes, Scope& scope);
    void tag_value(Tags& tags, const Value& v);

    // ---- classes, defines, nodes (instances.cc) ----
    void evaluate_resource(Resource& resource);
    Resource& ensure_in_catalog(Definition& definition, Scope* scope,
                                const std::vector<Param>* parameters);
    std::vector<Resource*> evaluate_classes(std::span<const std::string_view> names, Scope* scope,
                                            bool lazy);
    Definition& parent_of(Definition& definition);
    bool child_of(const Definition* child, const Definition* ancestor);

    // ---- state shared with the collectors ----
    base::Arena& arena() { return *request_.arena; }
    evaluator::Interpreter& interpreter() { return *interpreter_; }
    types::Context& types() { return interpreter_->types(); }
    Definitions& definitions() { return definitions_; }
    Request& request() { return request_; }
    TagTable& tag_table() { return tag_table_; }
    base::LogSink& log() { return *request_.log; }
    base::ArenaVector<Resource*>& resources() { return resources_; }
    void remove_collector(Collector& collector);
    ScopeData& data(Scope* scope);
    static Resource* resource_of(Scope* scope) {
        return scope ? static_cast<Resource*>(scope->base().resource) : nullptr;
    }
    const Definition* source_of(Scope* scope) { return scope ? data(scope).source : nullptr; }
    bool raw_tagged(const Resource& resource, std::uint32_t tag_id) const;
    const types::Type* reference_to(const Resource& resource);
    Resource& allocate_resource();

private:
    // compile.cc: the passes
    void decode_node_data();
    void set_node_parameters();
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
    void set_resource_parameters(Resource& resource, Scope& scope, Definition& definition);
    void prepare_parameters(Definition& definition);
    /// What the function of a Deferred value says that it gives; null: nothing.
    const types::Type* deferred_type(const Value& later);
    void validate_hash(const Resource& resource, Definition& definition,
                       const value::HashRep& given);
    void add_edge_to_stage(Resource& resource);
    void instantiate_resource(Definition& definition, Scope* scope, Resource& resource);
    void finish_evaluation(Resource& resource);
    Scope* new_scope(Scope* dynamic_parent, const Definition* source, Resource* resource);

    // table.cc
    void alias(Resource& resource, std::string_view key, bool from_name);
    void create_aliases(Resource& resource);
    std::string name_alias(const Resource& resource);
    std::vector<std::string> uniqueness_key(const Resource& resource);

    Relationship::Side side_of(const Value& v);
    void populate_settings();

    Request& request_;
    Definitions definitions_;
    TagTable tag_table_;
    std::unique_ptr<evaluator::Interpreter> interpreter_;

    base::ArenaVector<Resource*> catalog_resources_;  ///< in the catalog, in order
    /// The compiler's own list: without stage and settings.
    base::ArenaVector<Resource*> resources_;
    ArenaMap<std::string_view, base::ArenaVector<Resource*>> by_type_;
    struct Key {
        std::string_view type, title;
        bool operator==(const Key&) const = default;
    };
    struct KeyHash {
        std::size_t operator()(const Key& k) const {
            // Titles tell more than types: a type's length is enough.
            return std::hash<std::string_view>()(k.title) + k.type.size();
        }
    };
    ArenaMap<Key, Resource*, KeyHash> table_;
    ArenaMap<Resource*, base::ArenaVector<std::string_view>> aliases_;

    std::vector<std::string_view> classes_;
    Tags tags_;
    ArenaMap<std::string_view, Scope*> class_scopes_;
    std::vector<Pass> passes_;            ///< run so far
    std::optional<std::string> version_;  ///< what the environment's config_version printed
    bool settings_populated_ = false;
    Scope* settings_scope_ = nullptr;
    Scope* node_scope_ = nullptr;
    Resource* main_resource_ = nullptr;
    std::optional<regex::Match> node_match_;
    std::string node_match_subject_;

    std::vector<std::pair<std::string, std::vector<Resource*>>> overrides_;
    std::unordered_map<std::string, std::size_t> override_index_;
    std::deque<std::unique_ptr<Collector>> collector_storage_;
    std::vector<Collector*> collectors_;
    std::vector<Relationship> relationships_;
    base::ArenaVector<Resource*> instances_;  ///< classes, defines, nodes: what may need evaluation

    ArenaMap<std::string_view, ResourceType> resource_types_;
    std::unordered_map<std::string, const evaluator::Callable*> functions_;
    std::unordered_map<std::string, const types::Type*> type_aliases_;
    std::vector<std::shared_ptr<const environment::ParsedFile>> kept_files_;
    std::vector<std::unique_ptr<ScopeData>> scope_data_;
    friend class Collector;
};

}  // namespace bunraku::compiler
