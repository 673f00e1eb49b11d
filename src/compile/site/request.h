// What a compile is asked for, and what it gives.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
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

/// Where a node's facts come from.
struct FactSource {
    enum class Kind : std::uint8_t {
        Given,    ///< `values`
        File,     ///< `file`, in any form that facts::read_documents takes
        Machine,  ///< this one's, the custom facts of the environment's modules among them
        Store     ///< what the store knows of the node
    } kind = Kind::Given;
    value::Value values;  ///< a hash; undef: none
    std::string file;
};

/// What says otherwise than the site's settings for one compile, by name: environment,
/// environmentpath, hiera_config, storeconfigs, puppetdb_url ...
class Overlay {
public:
    void set(std::string name, std::string value);
    /// Null: the site's settings count.
    const std::string* find(std::string_view name) const;
    const std::vector<std::pair<std::string, std::string>>& entries() const { return entries_; }

private:
    std::vector<std::pair<std::string, std::string>> entries_;  // by name
};

/// Which manifests and modules are compiled, as far as the environment does not say it.
struct Sources {
    std::string directory;  ///< the environment's own folder, whatever its name
    std::optional<std::vector<std::string>> modulepath;
    std::string manifest;             ///< file or folder
    std::optional<std::string> code;  ///< the text of the main manifest instead
    std::string code_name;            ///< which file that text is said to be of
    bool no_manifest = false;
    /// The environment's files are those of this commit (a branch, a tag, an id) of the git
    /// repository that its folder belongs to; what lies elsewhere is the disk's. Which commit a
    /// name stands for is asked once.
    std::string revision;
    /// The environment's files are these, whatever `revision` says; null: they are not given.
    std::shared_ptr<const environment::Files> files;
};

/// Answers collectors of exported resources in place of the store, which it may ask; the other
/// arguments are those of ExportedSource::find.
using CollectorAnswer = std::function<base::Result<std::vector<compiler::ExportedResource>>(
    compiler::ExportedSource& store, std::string_view type, const compiler::CollectorQuery* query,
    std::string_view except, base::Arena& arena, const value::TypedFactory& make_typed)>;

/// Where Puppet's own commands differ from each other; as it stands, a server's way.
struct CompileMode {
    /// The manifest has to be there. Else ENVIRONMENT/manifests may be missing: it is empty then.
    bool manifest_required = false;
    /// The environment needs a folder even where the request says all that its folder would.
    bool folder_required = false;
    /// $settings:: has this process's values. Else those that root would see: what a catalog shows
    /// must not depend on who compiles it.
    bool own_settings = false;
    /// What is wrong with the classifier is told as the end of a run ("Could not run: ..."), not of
    /// a search for the node.
    bool ends_run = false;
};

/// One node's compile. Values must live as long as what is made from them: best in `arena`.
struct NodeRequest {
    std::string node;  ///< empty: the setting node_name_value
    FactSource facts;

    /// $trusted: a hash. If undef, what the store has where the facts come from it; else the node's
    /// name, not verified, or with `trust_clientcert` what Puppet makes of a local node: named by
    /// the fact clientcert, else unnamed.
    value::Value trusted;
    bool trust_clientcert = false;
    /// $server_facts: none; fixed ones, so that no catalog depends on who compiles it; this
    /// machine's; or those given.
    enum class ServerFacts : std::uint8_t { None, Fixed, Own, Given } server_facts{};
    value::Value given_server_facts;
    /// Further top-scope variables.
    std::vector<std::pair<std::string, value::Value>> variables;

    /// What a classifier said; else the one of the settings node_terminus and external_nodes is
    /// asked, where `classify`.
    std::optional<compiler::Classification> classification;
    bool classify = true;
    /// These classes in place of the classifier's.
    std::optional<std::vector<std::string>> classes;
    /// And these beside them.
    std::vector<std::string> more_classes;

    Overlay overlay;
    Sources sources;
    CompileMode compile_mode;
    std::string code_id;

    CollectorAnswer collectors;  ///< null: the store answers

    bool record = false;  ///< Compiled::trace is wanted
    /// Who read what the trace has; null: nobody wants to know. Implies `record`.
    std::shared_ptr<compiler::ReadLocations> places;
    /// What the compile does is told here; null: nobody wants to know.
    std::shared_ptr<compiler::History> history;
    /// The catalog's and all that belongs to it; null: one is made, within the site's limit.
    std::shared_ptr<base::Arena> arena;
    /// At this time the compile ends with an error.
    std::optional<std::chrono::steady_clock::time_point> deadline;
    /// Each compile or evaluation that takes longer ends with an error.
    std::optional<std::chrono::milliseconds> time;
};

/// What it gave. All of it lives as long as this does; the catalog alone as long as its arena.
struct Compiled {
    std::shared_ptr<base::Arena> arena;
    std::shared_ptr<const View> view;  ///< the settings it was made with
    std::shared_ptr<const environment::Environment> environment;
    std::shared_ptr<catalog::Catalog> catalog;
    std::shared_ptr<const catalog::Naming> naming;
    std::string node;
    value::Value facts, trusted;
    evaluator::Strict strict = evaluator::Strict::Error;
    std::shared_ptr<environment::Trace> trace;  ///< what it read; null where not asked for
    std::vector<compiler::Pass> timings;        ///< in their order
    std::vector<std::string> collected;         ///< what collectors asked of other nodes; sorted
};

}  // namespace bunraku::site
