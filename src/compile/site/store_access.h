// SPDX-License-Identifier: Apache-2.0
// The store used by compiles: the embedded one, or a PuppetDB-compatible service.
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

/// Whether this process has an embedded store (There) or must look for its file (Perhaps).
enum class OwnStore : std::uint8_t { Perhaps, There };

/// Reports whether the settings or puppetdb.conf name a PuppetDB, which is then used. Without
/// puppetdb.conf, storeconfigs_backend = puppetdb counts only if there is no embedded store.
bool names_puppetdb(const config::Settings& settings, OwnStore own = OwnStore::Perhaps);

/// Access to the store. A remote service is used if the setting puppetdb_url (--puppetdb-url) names
/// one, or if storeconfigs_backend is "puppetdb" and confdir contains puppetdb.conf. Without that
/// file, storeconfigs_backend = puppetdb means Puppet's default service, unless there is an
/// embedded store. This is the state of a site that migrated its data from PuppetDB. Connections
/// are opened on first use. Throws on errors. For use by one thread at a time.
class StoreAccess {
public:
    /// The store of this process, used without a remote service.
    struct Embedded {
        std::string database;  ///< a file or "postgresql://.."; if empty, store_path applies
        /// Accepts commands for the store. If not set, they are written to the database directly.
        std::function<base::Result<void>(const store::CommandHeader&, std::string body)> submit;
        /// Reports whether facts with that producer time (ms) are still the newest of a node. If
        /// not set, this is unknown.
        std::function<bool(const std::string& node, std::int64_t producer_timestamp)> facts_match;
        /// Accepts the commands for a remote service, to send them later. If not set, commands are
        /// sent immediately.
        std::function<base::Result<void>(const store::CommandHeader&, std::string body)> spool;
        /// The network for remote services. If null, sockets are used.
        http::Network* network = nullptr;
    };
    /// Identifiers of the agent's run; empty if unknown.
    struct RunIds {
        std::string transaction_uuid, job_id;
        std::vector<std::string> collected;  ///< as in Compiled
    };
    /// `settings` and `embedded` must outlive this object. `user_agent` is used for requests to
    /// services.
    StoreAccess(const config::Settings& settings, const Embedded& embedded, std::string user_agent);
    ~StoreAccess();

    /// Sets the log for further messages; may be null.
    void log_to(base::LogSink* log);

    compiler::ExportedSource& exported();
    /// Runs PQL or a syntax tree in arrays.
    base::Result<value::Value> query(const value::Value& query, base::Arena& arena);
    /// Stores the facts of a node, a hash, with its $trusted as PuppetDB's terminus does. `trusted`
    /// may be undef; it is left out if it belongs to another node. Returns the producer time (ms).
    std::int64_t store_facts(const std::string& node, const std::string& environment,
                             const value::Value& facts, const value::Value& trusted);
    /// The node that `catalog` was compiled for.
    struct Subject {
        std::string node;
        value::Value facts, trusted;  ///< undef if they are stored already
    };
    /// Stores a compiled catalog. A remote service receives the facts first, if there are any. The
    /// embedded store logs resources that another node exports too; with `strict_exports` they are
    /// an error (thrown).
    void store_catalog(const Subject& subject, const catalog::Catalog& catalog,
                       const catalog::Naming& naming, const RunIds& run = {});
    /// Stores the report of a run, given as Puppet's JSON (format 12).
    void store_report(const std::string& node, const value::Value& report);
    /// Returns the embedded store.
    store::Store& embedded();
    /// Returns true if no remote service is used.
    bool is_embedded();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Returns the remote service that replaces the embedded store (see StoreAccess), or null. Throws.
/// If `network` is null, sockets are used.
std::unique_ptr<PuppetdbClient> puppetdb_service(const config::Settings& settings,
                                                 const std::string& user_agent, base::LogSink& log,
                                                 http::Network* network,
                                                 OwnStore own = OwnStore::Perhaps);
/// Returns options for a client that sends this machine's certificate and trusts the CA that signed
/// it. Missing files are left out.
http::ClientOptions tls_options(const config::Settings& settings, std::string user_agent);

/// Returns the key file for Sensitive values (store/secrets.h): the setting store_key, or else
/// store.key in ssldir.
std::string store_key_of(const config::Settings& settings);
/// Returns the path of the embedded store, a file in `statedir`.
std::string store_path(const config::Settings& settings);
/// Returns the database that --database names: a file, "sqlite:FILE" or "postgresql://..". If
/// `given` is empty, returns store_path.
std::string database_of(const config::Settings& settings, std::string_view given);

}  // namespace bunraku::site
