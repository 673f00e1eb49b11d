// SPDX-License-Identifier: Apache-2.0
// One compile: turns a node, its facts and an environment into a catalog.
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

/// A class that an external node classifier assigns.
struct NodeClass {
    std::string name;
    value::Value parameters;  ///< a hash, or undef
};

/// The input data of the node. The values live in the arena of the request.
struct NodeData {
    std::string name;
    value::Value facts;         ///< hash for `$facts` and top-scope variables, or undef
    value::Value trusted;       ///< hash; if undef, the node's name, unverified
    value::Value server_facts;  ///< hash or undef
    value::Value parameters;    ///< hash of the classifier's parameters, or undef
    std::vector<NodeClass> classes;
    bool classes_with_parameters = false;  ///< True if the classifier returned a hash of classes.
    /// Further top-scope variables, set before all others. The names may be qualified.
    std::vector<std::pair<std::string, value::Value>> variables;
};

/// Services of other modules. The caller creates them for one compile.
struct Services {
    evaluator::LookupHost* lookup = nullptr;
    evaluator::TemplateHost* templates = nullptr;
    templates::RubySession* ruby = nullptr;
    ExportedSource* exported = nullptr;
};

struct Request {
    NodeData node;
    std::shared_ptr<const environment::Environment> environment;
    std::shared_ptr<base::Arena> arena;  ///< the catalog keeps it alive
    base::LogSink* log = nullptr;
    evaluator::Inputs* inputs = nullptr;
    /// A hash of all settings, for `$settings::x`.
    value::Value settings;
    /// A hash of the settings that the environment overrides.
    value::Value environment_settings;
    evaluator::Options options;
    Services services;
    std::string code_id;
    /// Records the reads of the compile. May be null.
    environment::Trace* trace = nullptr;
    /// Records the code location of each read. May be null; needs `trace`.
    ReadLocations* places = nullptr;
    /// Records the steps of the compile. May be null.
    History* history = nullptr;
    /// Whether to look up class parameters in Hiera. Tests of the bare compiler turn it off.
    bool lookup_parameters = true;
    /// Whether to throw errors as ExplainedError, with suggestions for interactive users.
    bool explain_errors = false;
};

/// Duration of one pass.
struct Pass {
    std::string_view name;
    std::int64_t nanoseconds = 0;
};

struct Result {
    std::shared_ptr<catalog::Catalog> catalog;
    std::vector<Pass> passes;  ///< in order of execution
};

/// Compiles a catalog. Throws base::PuppetError; the caller appends " on node NAME" (see
/// error_text).
Result compile(Request& request);

/// Compiles the environment's manifest if `with_manifest` is true. Then evaluates the texts in the
/// top scope, in order, and returns the last value. Messages use `source_name` as the file name of
/// the texts.
value::Value evaluate(Request& request, const std::vector<std::string>& texts,
                      const std::string& source_name, bool with_manifest);

/// Compiles if `with_manifest` is true; otherwise only sets the node's data. Then calls `action`
/// with the interpreter.
void visit(Request& request, bool with_manifest,
           const std::function<void(evaluator::Interpreter&)>& action);

/// Inputs from the machine; only the settings are those of the request's hash. Records
/// each read in the trace of the current compile.
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
    /// Source of files.
    std::shared_ptr<const environment::Files> files = environment::disk_files();
    /// Answers queries of the store. May be empty.
    std::function<base::Result<value::Value>(const value::Value&, base::Arena&)> querier;
    /// Runs programs. May be empty.
    std::function<base::Result<CommandOutput>(const std::vector<std::string>&, const std::string&)>
        runner;

private:
    base::Result<CommandOutput> run(const std::vector<std::string>& argv, const std::string& cwd);

    std::string environment_;
    std::string node_;
    std::function<std::optional<std::string>(std::string_view)> setting_;
};

}  // namespace bunraku::compiler
