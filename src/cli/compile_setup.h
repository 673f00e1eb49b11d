// What the commands that compile have in common: the options that describe a node and its
// environment, and the services a compile needs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/command.h"
#include "cli/store_access.h"
#include "compiler/compile.h"
#include "compiler/external_nodes.h"
#include "compiler/naming.h"
#include "facts/facts.h"
#include "hiera/lookup.h"
#include "store/store.h"
#include "template/host.h"

namespace bunraku::cli {

/// What describes a node and where it is compiled; the fields are the options' names.
struct CompileOptions {
    std::string node, facts, enc, trusted, server_facts, vars, environment, environmentpath;
    std::optional<std::string> modulepath;
    std::string hiera_config, code_id;
    std::string directory;  ///< the environment's own folder, whatever its name
    bool storeconfigs = false;
};

/// Gathers the options, then makes the request. Keep it alive as long as the request is used.
class CompileSetup {
public:
    explicit CompileSetup(Invocation& invocation);
    ~CompileSetup();

    /// --node, --facts, --enc, --trusted, --server-facts, --vars, --environment, --environmentpath,
    /// --modulepath, --hiera-config, --code-id, --storeconfigs, --puppetdb-url.
    void add_options(OptionParser& options);

    /// Reads the files the options name and opens the environment. `manifest` is a file or folder;
    /// `code` its text instead; neither: the environment's own. Throws base::PuppetError.
    compiler::Request& prepare(base::LogSink& log, const std::string& manifest,
                               const std::optional<std::string>& code, bool no_manifest = false);

    /// What prepare() made.
    compiler::Request& request() { return request_; }
    hiera::Lookup& lookup() { return *lookup_; }
    const std::string& node_name() const { return options.node; }
    /// " on node NAME", for report_error.
    std::string suffix() const { return " on node " + options.node; }
    const catalog::Naming& naming() const { return *naming_; }
    bool storeconfigs() const { return storeconfigs_; }
    bool rich_data() const { return invocation_.settings.boolean("rich_data"); }
    /// --facts was given.
    bool has_facts() const { return !options.facts.empty(); }
    /// Remembers a compiled catalog, so that other nodes may collect from it. Throws.
    void store_catalog(const catalog::Catalog& catalog);
    /// The embedded store, opened on first use. Throws where it cannot be opened.
    store::Store& opened_store();

    CompileOptions options;

    /// Shared between compiles: taken where set, else made by prepare() and left here.
    std::shared_ptr<const environment::Environment> snapshot;
    std::shared_ptr<hiera::DataCache> data_cache;
    /// Facts to use where --facts is not given; set before prepare().
    value::Value default_facts;
    /// Without --facts take those of this machine, the environment's custom facts among them.
    bool machine_facts = false;
    /// Without --server-facts: none, fixed ones, so that no catalog depends on who compiles it, or
    /// this machine's.
    enum class ServerFacts : std::uint8_t { None, Fixed, Own };
    ServerFacts server_facts = ServerFacts::None;
    /// $trusted as Puppet makes it of what a local node says of itself: named by the fact
    /// clientcert, unnamed without it. Else it is the node's name.
    bool trust_clientcert = false;
    std::shared_ptr<base::Arena> arena = std::make_shared<base::Arena>(256 * 1024);

private:
    value::Value read_json(const std::string& path);
    std::optional<compiler::Classification> classify();

    Invocation& invocation_;
    std::string modulepath_ = "\1";
    std::string puppetdb_url_;
    bool storeconfigs_ = false;
    std::shared_ptr<const environment::Environment> env_;
    std::unique_ptr<compiler::SystemInputs> inputs_;
    std::unique_ptr<hiera::Lookup> lookup_;
    std::unique_ptr<templates::Templates> templates_;
    std::unique_ptr<StoreAccess> store_;
    std::unique_ptr<catalog::Naming> naming_;
    compiler::Request request_;
};

/// Where Puppet finds facts beyond Facter's own: FACTERLIB, lib/facter and facts.d of the
/// environment's modules (null: none), and what the settings factpath and pluginfactdest name.
void add_fact_folders(const config::Settings& settings, const environment::Environment* environment,
                      facts::Options& wanted);

/// Where the environment that the settings name is looked for; all else as environment::Spec has
/// it.
environment::Spec environment_spec(const config::Settings& settings);

/// Puppet's words for an environment that is not there.
std::string environment_missing(const config::Settings& settings);

/// Every setting as the value `$settings::NAME` has: booleans and numbers as such.
value::Value settings_as_value(base::Arena& arena, const config::Settings& settings);

/// Where the embedded store is: a file under `statedir`.
std::string store_path(const config::Settings& settings);
/// What --database names: a file, "sqlite:FILE" or "postgresql://.."; empty: the file above.
std::string database_of(const config::Settings& settings, std::string_view given);

}  // namespace bunraku::cli
