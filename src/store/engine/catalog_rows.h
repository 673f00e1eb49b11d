// SPDX-License-Identifier: Apache-2.0
// Resources and edges of a catalog in the form in which they are stored. Catalogs from clients and
// catalogs compiled in this process both use it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "store/db/packed.h"
#include "store/db/writer.h"

namespace bunraku::store {

/// A resource with all columns of its row.
struct ResourceRow {
    std::string type, title;
    bool exported = false, virtual_ = false;
    std::optional<std::string> file;
    std::optional<std::int64_t> line;
    std::string tags;        ///< JSON, sorted, without duplicates
    std::string parameters;  ///< canonical JSON
    std::string exact;       ///< with secrets and references; empty if it equals `parameters`
    bool secret = false;     ///< true if `exact` contains a Sensitive value and must be encrypted
    std::string kind, aliases;
    Digest parameters_hash, row_hash;

    /// Computes the hashes and `secret` from the other members. If `secrets` is null, Sensitive
    /// values are dropped.
    Result<void> hash(Secrets* secrets);
};

/// The columns of `catalogs` other than its edges. Absent texts are null.
struct CatalogRow {
    std::string version;
    int api_version = 9;
    std::string environment, producer;
    std::optional<std::string> transaction_uuid, catalog_uuid, code_id, job_id;
    std::int64_t producer_timestamp = 0;
    std::int64_t received = 0;
    std::string wire_digest;  ///< null if empty
};

struct CatalogChange {
    std::size_t inserted = 0, deleted = 0;
    bool edges_changed = false;
    /// resources that the node exports now and did not export before
    std::vector<std::int64_t> exported;
};

/// Indexes a new exported resource by the values that collectors search for.
Result<void> index_export(Database& db, std::int64_t id, const ResourceRow& row);

/// Returns the resources.id of each row. Stores the rows that do not exist yet.
Result<std::vector<Writer::ResourceRef>> store_resources(Writer& writer,
                                                         std::span<ResourceRow> rows);

/// Returns the hash of the content. It does not depend on the order of `refs` or `edges`. The edges
/// refer to positions in `refs`.
Digest content_hash(std::string_view certname, const std::vector<Writer::ResourceRef>& refs,
                    const std::vector<PackedEdge>& edges);

/// Makes `refs` and `edges` the node's newest catalog. The edges refer to positions in `refs`.
Result<CatalogChange> store_content(Writer& writer, std::int64_t node,
                                    const std::vector<Writer::ResourceRef>& refs,
                                    const std::vector<PackedEdge>& edges, const Digest& hash,
                                    const CatalogRow& row);
/// Updates the metadata of a catalog whose content is unchanged. Leaves `wire_digest` unchanged if
/// the row has none.
Result<void> renew_catalog(Writer& writer, std::int64_t node, const CatalogRow& row);
/// Does the same in a separate transaction if the node is active and the stored catalog is not
/// newer and has this digest, environment and producer. Otherwise returns false. PostgreSQL only.
Result<bool> renew_unchanged_catalog(Writer& writer, std::string_view certname,
                                     const CatalogRow& row);

}  // namespace bunraku::store
