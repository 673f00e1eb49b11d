// The store that nodes are compiled with: the embedded one, or a PuppetDB-compatible service.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "compile/compiler/exported_source.h"
#include "core/base/diagnostic.h"
#include "core/base/result.h"
#include "core/config/settings.h"
#include "net/http/client.h"
#include "resources/catalog/catalog.h"
#include "resources/catalog/naming.h"
#include "store/db/command.h"
#include "store/engine/store.h"

namespace bunraku::site {

class PuppetdbClient;

/// Whether this process has an embedded store, or must look for its file.
enum class OwnStore : std::uint8_t { Perhaps, There };

/// Returns whether the settings or puppetdb.conf name a PuppetDB, which is used then. Without
/// puppetdb.conf, storeconfigs_backend = puppetdb counts only if there is no embedded store.
bool names_puppetdb(const config::Settings& settings, OwnStore own = OwnStore::Perhaps);

/// A service is asked if the setting puppetdb_url (--puppetdb-url) names one, or if
/// storeconfigs_backend is "puppetdb" and there is a puppetdb.conf in confdir. Without that file a
/// setting storeconfigs_backend = puppetdb means Puppet's default service, unless there is an
/// embedded store: that is what a site has that took its store over from PuppetDB.
/// Everything is opened on first use; errors are thrown. For one thread at a time.
class StoreAccess {
public:
    /// The store of this process, where no service is asked.
    struct Embedded {
        std::string database;  ///< a file or "postgresql://.."; empty: store_path
        /// What is to be remembered goes this way, as a command; unset: into the database at once.
        std::function<base::Result<void>(const store::CommandHeader&, std::string body)> submit;
        /// Whether facts of that producer time (ms) are still the newest of a node; unset: nobody
        /// knows.
        std::function<bool(const std::string& node, std::int64_t producer_timestamp)> facts_match;
        /// Where a service is asked: what takes its commands and sends them when it can; unset:
        /// they are sent at once.
        std::function<base::Result<void>(const store::CommandHeader&, std::string body)> spool;
        /// How a service is reached; null: sockets.
        http::Network* network = nullptr;
    };
    /// What the agent's run calls itself; empty: it did not say.
    struct RunIds {
        std::string transaction_uuid, job_id;
        std::vector<std::string> collected;  ///< as Compiled has it
    };
    /// `settings` and `embedded` must outlive it; services are asked as `user_agent`.
    StoreAccess(const config::Settings& settings, const Embedded& embedded, std::string user_agent);
    ~StoreAccess();

    /// Who is told from now on; null: nobody.
    void log_to(base::LogSink* log);

    compiler::ExportedSource& exported();
    /// PQL, or a syntax tree in arrays.
    base::Result<value::Value> query(const value::Value& query, base::Arena& arena);
    /// Stores the facts of a node, a hash, and with them its $trusted as PuppetDB's terminus does;
    /// `trusted` may be undef, and is left out if it is of another node. Returns the producer time
    /// (ms).
    std::int64_t store_facts(const std::string& node, const std::string& environment,
                             const value::Value& facts, const value::Value& trusted);
    /// What `catalog` was compiled for.
    struct Subject {
        std::string node;
        value::Value facts, trusted;  ///< undef: they are stored already
    };
    /// Stores a compiled catalog; a service gets the facts before it, if there are some. The
    /// embedded store logs resources that another node exports too; with `strict_exports` they are
    /// an error (thrown).
    void store_catalog(const Subject& subject, const catalog::Catalog& catalog,
                       const catalog::Naming& naming, const RunIds& run = {});
    /// Remembers the report of a run, given as Puppet's JSON (format 12).
    void store_report(const std::string& node, const value::Value& report);
    /// The embedded one.
    store::Store& embedded();
    /// No service elsewhere is asked.
    bool is_embedded();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Returns the service that is asked in place of an embedded store (see StoreAccess); null: none.
/// Throws. `network`: how it is reached; null: sockets.
std::unique_ptr<PuppetdbClient> puppetdb_service(const config::Settings& settings,
                                                 const std::string& user_agent, base::LogSink& log,
                                                 http::Network* network,
                                                 OwnStore own = OwnStore::Perhaps);
/// A client that shows this machine's certificate, and trusts the authority that signed it: files
/// that are not there are left out.
http::ClientOptions tls_options(const config::Settings& settings, std::string user_agent);

/// The keys for what is Sensitive (store/secrets.h): the setting store_key, else beside the
/// machine's own key.
std::string store_key_of(const config::Settings& settings);
/// Where the embedded store is: a file under `statedir`.
std::string store_path(const config::Settings& settings);
/// What --database names: a file, "sqlite:FILE" or "postgresql://.."; empty: the file above.
std::string database_of(const config::Settings& settings, std::string_view given);

}  // namespace bunraku::site
