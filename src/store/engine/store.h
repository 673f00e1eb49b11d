// SPDX-License-Identifier: Apache-2.0
// The store of the newest catalog of every node and of exported resources.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "resources/catalog/exported.h"
#include "resources/catalog/restore.h"
#include "resources/catalog/wire.h"
#include "store/db/support.h"

namespace bunraku::store {

using base::Result;

struct StoreOptions {
    bool read_only = false;  ///< the file must exist
    int busy_timeout_ms = 20000;
    bool durable = true;  ///< if true, a change is on disk when the call returns
    /// The setting store_key: the file of the keys for Sensitive values (secrets.h). If empty,
    /// Sensitive values are not stored.
    std::string key_file = {};
};

enum class Outcome {
    Stored,     ///< a new catalog, or one with changed content
    Unchanged,  ///< the same content; only version, ids and times were updated
    Obsolete,   ///< older than the stored catalog; nothing was changed
};

struct ReplaceReport {
    Outcome outcome = Outcome::Stored;
    std::size_t inserted = 0, updated = 0, deleted = 0;  ///< number of resources that were written
};

struct CommandHeader;
struct ExportClash;

/// The status of a node. Times are milliseconds since the epoch.
struct NodeStatus {
    std::string certname;
    std::optional<std::int64_t> deactivated, expired;
    std::optional<std::int64_t> catalog_timestamp;  ///< producer's timestamp
    std::string catalog_environment;
    std::string catalog_hash;  ///< hexadecimal
    std::size_t resources = 0, exported = 0;
    std::optional<std::int64_t> facts_timestamp, report_timestamp;  ///< producer's timestamps
    std::string report_status;                                      ///< status of the newest report
    bool active() const { return !deactivated && !expired; }
};

struct StoredCatalog {
    catalog::Catalog catalog;
    catalog::WireEnvelope envelope;
};

/// One database. Any number of processes may have it open; writers wait for each other. Only one
/// thread at a time may use an object.
class Store {
public:
    /// Opens a store. `where` is a file or "postgresql://..". Creates the file, readable only by
    /// its owner, and its parent folders if necessary. Migrates older tables to the newest schema.
    static Result<std::unique_ptr<Store>> open(const std::string& where,
                                               const StoreOptions& options = {});
    ~Store();

    /// Returns false if the connection is lost and must be discarded.
    bool healthy() const;

    /// Stores `catalog` as the newest of `certname`, completely or not at all. Removes the exports
    /// that it no longer contains. Changes nothing if the producer timestamp is older than the
    /// stored one. Reactivates the node if the timestamp is newer than its deactivation.
    Result<ReplaceReport> replace_catalog(std::string_view certname,
                                          std::int64_t producer_timestamp,
                                          const catalog::Catalog& catalog,
                                          const catalog::WireEnvelope& envelope = {},
                                          const catalog::Naming& naming = catalog::plain_naming());
    /// Stores a catalog from a client, with its relations as sent.
    Result<ReplaceReport> replace_catalog(const catalog::WireCatalog& catalog);

    /// Executes a command as if a client had sent it, completely or not at all.
    Result<void> execute(const CommandHeader& header, std::string_view body);

    /// Returns the exported resources of `type` in the newest catalogs of active nodes except
    /// `except`, ordered by certname, type and title. Values are allocated in `arena`. Equality is
    /// exact; an array also equals each of its members. Tags are case-insensitive. undef equals an
    /// absent parameter.
    Result<std::vector<catalog::ExportedResource>> find_exported(
        std::string_view type, const catalog::CollectorQuery* query, std::string_view except,
        base::Arena& arena, const value::TypedFactory& make_typed = {});

    /// See exports.h.
    Result<std::vector<ExportClash>> export_clashes(std::string_view certname,
                                                    const catalog::Catalog& catalog);
    Result<std::vector<std::string>> known_collections(std::string_view certname);
    Result<void> remember_collections(std::string_view certname,
                                      const std::vector<std::string>& names);

    /// Returns the same as calling catalog::append_identity() on the result of find_exported(),
    /// without reading the resources.
    Result<std::string> exported_identity(std::string_view type,
                                          const catalog::CollectorQuery* query,
                                          std::string_view except);

    /// Returns the newest catalog as it was stored.
    Result<std::optional<StoredCatalog>> newest_catalog(std::string_view certname,
                                                        const value::TypedFactory& make_typed = {});

    /// Deactivates a node. Returns false if the node is unknown or has data newer than `timestamp`.
    Result<bool> deactivate_node(std::string_view certname, std::int64_t timestamp);
    /// Removes the node and all its data. Returns false if the node is unknown.
    Result<bool> purge_node(std::string_view certname);
    Result<std::optional<NodeStatus>> node(std::string_view certname);
    /// Returns the nodes, sorted by certname.
    Result<std::vector<NodeStatus>> nodes(bool active_only = true);

    /// Removes resources, facts and packages that no node uses any more. Returns their number.
    Result<std::size_t> collect_garbage();

private:
    struct Impl;
    explicit Store(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace bunraku::store
