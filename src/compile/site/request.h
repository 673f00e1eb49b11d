// SPDX-License-Identifier: Apache-2.0
// The input and output of a compile.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "compile/compiler/compile.h"
#include "compile/compiler/external_nodes.h"
#include "core/base/arena.h"
#include "core/value/value.h"
#include "language/environment/environment.h"
#include "resources/catalog/catalog.h"
#include "resources/catalog/naming.h"

namespace bunraku::site {

class View;

/// The source of a node's facts.
struct FactSource {
    enum class Kind : std::uint8_t {
        Given,  ///< uses `values`
        File,   ///< reads `file`, in any form that facts::read_documents accepts
        /// uses the facts of this machine, including custom facts of the environment's modules
        Machine,
        Store  ///< uses the stored facts of the node
    } kind = Kind::Given;
    value::Value values;  ///< hash or undef
    std::string file;
};

/// Settings that override those of the site for one compile, by name: environment, environmentpath,
/// hiera_config, storeconfigs, puppetdb_url ...
class Overlay {
public:
    void set(std::string name, std::string value);
    /// Returns null if the overlay does not have the setting.
    const std::string* find(std::string_view name) const;
    const std::vector<std::pair<std::string, std::string>>& entries() const { return entries_; }

private:
    std::vector<std::pair<std::string, std::string>> entries_;  // sorted by name
};

/// The manifests and modules of a compile, as far as they override the environment.
struct Sources {
    std::string directory;  ///< folder of the environment, whatever its name
    std::optional<std::vector<std::string>> modulepath;
    std::string manifest;             ///< file or folder
    std::optional<std::string> code;  ///< text of the main manifest, in place of `manifest`
    std::string code_name;            ///< file name of that text in messages
    bool no_manifest = false;
    /// The commit (a branch, tag or id) from which the environment's files are read, in the git
    /// repository of its folder. Other files are read from the disk. A name is resolved to a commit
    /// once.
    std::string revision;
    /// Files of the environment; overrides `revision`. May be null.
    std::shared_ptr<const environment::Files> files;
    /// Ids of reads, shared by several versions of an environment so that their traces can be
    /// compared. If null, each opened environment has its own.
    std::shared_ptr<environment::ReadTable> reads;
    /// Files of another version of the environment. If that version is open, its parsed files are
    /// reused. May be empty.
    std::weak_ptr<const environment::Files> previous;
};

/// Answers collectors of exported resources in place of the store, and may query `store`. The other
/// arguments are those of ExportedSource::find.
using CollectorAnswer = std::function<base::Result<std::vector<compiler::ExportedResource>>(
    compiler::ExportedSource& store, std::string_view type, const compiler::CollectorQuery* query,
    std::string_view except, base::Arena& arena, const value::TypedFactory& make_typed)>;

/// Behaviour that differs between Puppet's commands. The defaults are those of a server.
struct CompileMode {
    /// True if the manifest must exist. Otherwise, a missing ENVIRONMENT/manifests counts as empty.
    bool manifest_required = false;
    /// True if the environment needs a folder, even if the request provides everything that the
    /// folder would.
    bool folder_required = false;
    /// True if $settings:: has the values of this process. Otherwise it has the values for root, so
    /// that a catalog does not depend on the user that compiles it.
    bool own_settings = false;
    /// True to report errors of the classifier as the end of the run ("Could not run: ..."),
    /// instead of as a failed search for the node.
    bool ends_run = false;
};

/// The origin of $trusted.
struct TrustedSource {
    std::optional<value::Value> given;  ///< a hash
    enum class Otherwise : std::uint8_t {
        NodeName,   ///< the node's name, unverified
        Clientcert  ///< Puppet's value for a local node: named by the fact clientcert, or unnamed
    };
    /// Used if the request gives no value, and none is stored with the facts
    /// (FactSource::Kind::Store).
    Otherwise otherwise = Otherwise::NodeName;

    /// Uses this hash; undef means that nothing is given.
    void give(const value::Value& hash) {
        given = hash.is_undef() ? std::nullopt : std::optional(hash);
    }
};

/// The origin of $server_facts.
struct ServerFacts {
    enum class Kind : std::uint8_t {
        None,
        Fixed,  ///< the catalog does not depend on the machine that compiles it
        Own,    ///< the facts of this machine
        Given   ///< uses `values`
    } kind = Kind::None;
    value::Value values;

    static ServerFacts given(const value::Value& values) { return {Kind::Given, values}; }
};

/// The classes and parameters of a node. ClassifierOfSettings calls the classifier in the settings
/// node_terminus and external_nodes.
struct ClassifierOfSettings {};
struct Unclassified {};
using ClassificationSource =
    std::variant<ClassifierOfSettings, Unclassified, compiler::Classification>;

/// What a compile records.
struct Recording {
    bool trace = false;  ///< Compiled::trace
    /// Records the code location of each read in the trace; implies `trace`. May be null.
    std::shared_ptr<compiler::ReadLocations> places;
    /// Records the steps of the compile. May be null.
    std::shared_ptr<compiler::History> history;
};

/// A request to compile one node. Its values must live as long as the results; allocate them in
/// `arena` if possible.
struct NodeRequest {
    std::string node;  ///< if empty, the setting node_name_value applies
    FactSource facts;
    TrustedSource trusted;
    ServerFacts server_facts;
    /// Further top-scope variables.
    std::vector<std::pair<std::string, value::Value>> variables;

    ClassificationSource classification;
    /// Classes that replace those of the classifier.
    std::optional<std::vector<std::string>> classes;
    /// Additional classes.
    std::vector<std::string> more_classes;

    Overlay overlay;
    Sources sources;
    /// Sets `sources` for an environment, which is known only after the classification. May be
    /// null. May throw.
    std::function<void(const std::string& environment, Sources& sources)> choose_sources;
    CompileMode compile_mode;
    std::string code_id;

    CollectorAnswer collectors;  ///< null to use the store

    Recording record;
    /// The arena of the catalog and its data. If null, the session creates one within the site's
    /// limit.
    std::shared_ptr<base::Arena> arena;
    /// The compile ends with an error at this time.
    std::optional<std::chrono::steady_clock::time_point> deadline;
    /// Time limit of each compile or evaluation; exceeding it is an error.
    std::optional<std::chrono::milliseconds> time;
};

/// The result of a compile. Its data lives as long as this object; the catalog alone lives as long
/// as its arena.
struct Compiled {
    std::shared_ptr<base::Arena> arena;
    std::shared_ptr<const View> view;  ///< settings of the compile
    std::shared_ptr<const environment::Environment> environment;
    std::shared_ptr<catalog::Catalog> catalog;
    std::shared_ptr<const catalog::Naming> naming;
    std::string node;
    value::Value facts, trusted;
    evaluator::Strict strict = evaluator::Strict::Error;
    std::shared_ptr<environment::Trace> trace;  ///< null if it was not requested
    std::vector<compiler::Pass> timings;        ///< in order
    /// what collectors queried from other nodes; sorted
    std::vector<std::string> collected;
};

}  // namespace bunraku::site
