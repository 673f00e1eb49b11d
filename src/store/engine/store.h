// The memory of the house: the newest catalog of every node, and what nodes export to each other.
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
    bool durable = true;  ///< a change has reached the disk when the call returns
    /// The setting store_key: keys for what is Sensitive (secrets.h). Empty: it is not kept.
    std::string key_file = {};
};

enum class Outcome {
    Stored,     ///< new, or its content changed
    Unchanged,  ///< the same content; only version, identifiers and times were renewed
    Obsolete,   ///< older than what is known of the node: nothing was done
};

struct ReplaceReport {
    Outcome outcome = Outcome::Stored;
    std::size_t inserted = 0, updated = 0, deleted = 0;  ///< resources that had to be written
};

struct CommandHeader;
struct ExportClash;

/// Times are milliseconds since the epoch.
struct NodeStatus {
    std::string certname;
    std::optional<std::int64_t> deactivated, expired;
    std::optional<std::int64_t> catalog_timestamp;  ///< the producer's
    std::string catalog_environment;
    std::string catalog_hash;  ///< hexadecimal
    std::size_t resources = 0, exported = 0;
    std::optional<std::int64_t> facts_timestamp, report_timestamp;  ///< the producer's
    std::string report_status;                                      ///< of the newest report
    bool active() const { return !deactivated && !expired; }
};

struct StoredCatalog {
    catalog::Catalog catalog;
    catalog::WireEnvelope envelope;
};

/// One database. Any number of processes may have it open; writers wait for each other. An object
/// belongs to one thread at a time.
class Store {
public:
    /// `where`: a file, or "postgresql://..". Makes the file, readable by its owner alone, and the
    /// folders above it where they are missing; brings older tables to the newest schema.
    static Result<std::unique_ptr<Store>> open(const std::string& where,
                                               const StoreOptions& options = {});
    ~Store();

    /// False: the connection is lost and can only be thrown away.
    bool healthy() const;

    /// Remembers `catalog` as the newest of `certname`, all of it or nothing. What the node
    /// exported before and does not any more is gone. A producer timestamp older than the stored
    /// one changes nothing; one newer than a deactivation makes the node active again.
    Result<ReplaceReport> replace_catalog(std::string_view certname,
                                          std::int64_t producer_timestamp,
                                          const catalog::Catalog& catalog,
                                          const catalog::WireEnvelope& envelope = {},
                                          const catalog::Naming& naming = catalog::plain_naming());
    /// One that came over the wire, with its relations as they were sent.
    Result<ReplaceReport> replace_catalog(const catalog::WireCatalog& catalog);

    /// What a command says, as a client would send it; all of it or nothing.
    Result<void> execute(const CommandHeader& header, std::string_view body);

    /// Exported resources of `type` in the newest catalogs of active nodes but `except`, ordered by
    /// certname, type and title. Values are made in `arena`. Equality is exact; an array also
    /// equals each of its members; tags know no case; undef equals an absent parameter.
    Result<std::vector<catalog::ExportedResource>> find_exported(
        std::string_view type, const catalog::CollectorQuery* query, std::string_view except,
        base::Arena& arena, const value::TypedFactory& make_typed = {});

    /// See exports.h.
    Result<std::vector<ExportClash>> export_clashes(std::string_view certname,
                                                    const catalog::Catalog& catalog);
    Result<std::vector<std::string>> known_collections(std::string_view certname);
    Result<void> remember_collections(std::string_view certname,
                                      const std::vector<std::string>& names);

    /// What catalog::append_identity makes of that, without it.
    Result<std::string> exported_identity(std::string_view type,
                                          const catalog::CollectorQuery* query,
                                          std::string_view except);

    /// The newest catalog, as it was given.
    Result<std::optional<StoredCatalog>> newest_catalog(std::string_view certname,
                                                        const value::TypedFactory& make_typed = {});

    /// False: unknown, or something newer than `timestamp` is known of it.
    Result<bool> deactivate_node(std::string_view certname, std::int64_t timestamp);
    /// Forgets the node wholly. False: unknown.
    Result<bool> purge_node(std::string_view certname);
    Result<std::optional<NodeStatus>> node(std::string_view certname);
    /// By certname.
    Result<std::vector<NodeStatus>> nodes(bool active_only = true);

    /// Removes resources, facts and packages that no node has any more; gives their number.
    Result<std::size_t> collect_garbage();

private:
    struct Impl;
    explicit Store(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace bunraku::store
