// One compile: a node, its facts and an environment become a catalog.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compile/compiler/exported_source.h"
#include "compile/compiler/read_locations.h"
#include "core/base/arena.h"
#include "core/base/diagnostic.h"
#include "core/value/value.h"
#include "language/environment/environment.h"
#include "language/evaluator/host.h"
#include "language/evaluator/interpreter.h"
#include "resources/catalog/catalog.h"

namespace bunraku::templates {
class RubySession;
}

namespace bunraku::compiler {

class History;

/// A class an external node classifier names.
struct NodeClass {
    std::string name;
    value::Value parameters;  ///< a hash, or undef
};

/// What is known of the node before the compile. Values live in the request's arena.
struct NodeData {
    std::string name;
    value::Value facts;         ///< hash: `$facts` and top-scope variables; undef: none
    value::Value trusted;       ///< hash; undef: the node's own name, not verified
    value::Value server_facts;  ///< hash; undef: none
    value::Value parameters;    ///< hash of the classifier's parameters; undef: none
    std::vector<NodeClass> classes;
    bool classes_with_parameters = false;  ///< the classifier answered a hash
    /// Further top-scope variables, set before everything else; names may be qualified.
    std::vector<std::pair<std::string, value::Value>> variables;
};

/// Hosts that live on other floors; made by the caller for one compile.
struct Services {
    evaluator::LookupHost* lookup = nullptr;
    evaluator::TemplateHost* templates = nullptr;
    templates::RubySession* ruby = nullptr;
    ExportedSource* exported = nullptr;
};

struct Request {
    NodeData node;
    std::shared_ptr<const environment::Environment> environment;
    std::shared_ptr<base::Arena> arena;  ///< the catalog keeps it
    base::LogSink* log = nullptr;
    evaluator::Inputs* inputs = nullptr;
    /// Every setting as a value, for `$settings::x`; a hash.
    value::Value settings;
    /// The values that the environment gives in place of those; a hash.
    value::Value environment_settings;
    evaluator::Options options;
    Services services;
    std::string code_id;
    /// What the compile reads is noted here; null: nobody wants to know.
    environment::Trace* trace = nullptr;
    /// Beside a trace: who read it. Null: nobody wants to know.
    ReadLocations* places = nullptr;
    /// What the compile does is told here; null: nobody wants to know.
    History* history = nullptr;
    /// Parameters of classes are looked up in Hiera (off in tests of the bare compiler).
    bool lookup_parameters = true;
    /// Errors are ExplainedErrors: what may have been meant is looked for, for a person who waits.
    bool explain_errors = false;
};

/// How long a part of a compile took.
struct Pass {
    std::string_view name;
    std::int64_t nanoseconds = 0;
};

struct Result {
    std::shared_ptr<catalog::Catalog> catalog;
    std::vector<Pass> passes;  ///< in their order
};

/// Compiles. Throws base::PuppetError; " on node NAME" is the caller's to add (see error_text).
Result compile(Request& request);

/// Compiles the environment's manifest (where `with_manifest`) and then evaluates texts in the top
/// scope, in order; gives the last value. `source_name` is what messages call the texts.
value::Value evaluate(Request& request, const std::vector<std::string>& texts,
                      const std::string& source_name, bool with_manifest);

/// Compiles, or without `with_manifest` only sets what is known of the node, and then hands over
/// the interpreter and its top scope.
void visit(Request& request, bool with_manifest,
           const std::function<void(evaluator::Interpreter&)>& action);

/// Every value read through it comes from the machine; settings from the request's hash. What is
/// read is noted in the trace of the compile at work.
class SystemInputs : public evaluator::Inputs {
public:
    SystemInputs(std::string environment, std::string node,
                 std::function<std::optional<std::string>(std::string_view)> setting)
        : environment_(std::move(environment)),
          node_(std::move(node)),
          setting_(std::move(setting)) {}
    std::optional<std::string> read_file(std::string_view path) override;
    bool file_exists(std::string_view path) override;
    std::vector<std::string> glob(const std::string& pattern) override;
    std::int64_t now_ns() override;
    std::uint32_t random_bits() override;
    std::optional<std::string> setting(std::string_view name) override;
    std::string_view environment_name() override { return environment_; }
    std::string_view node_name() override { return node_; }
    base::Result<CommandOutput> run_command(const std::vector<std::string>& argv,
                                            const std::string& cwd) override;
    base::Result<CommandOutput> run_command_on(
        std::string_view content,
        const std::function<std::vector<std::string>(const std::string& path)>& argv,
        const std::string& cwd) override;
    base::Result<value::Value> store_query(const value::Value& query, base::Arena& arena) override;
    /// Where files are read.
    std::shared_ptr<const environment::Files> files = environment::disk_files();
    /// Who answers queries of the store; none: nobody.
    std::function<base::Result<value::Value>(const value::Value&, base::Arena&)> querier;
    /// Who starts programs; none: nobody.
    std::function<base::Result<CommandOutput>(const std::vector<std::string>&, const std::string&)>
        runner;

private:
    base::Result<CommandOutput> run(const std::vector<std::string>& argv, const std::string& cwd);

    std::string environment_;
    std::string node_;
    std::function<std::optional<std::string>(std::string_view)> setting_;
};

}  // namespace bunraku::compiler
