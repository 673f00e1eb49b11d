// Resources and edges of a catalog on their way into the tables; shared by what comes over the wire
// and by what is compiled here.
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

/// One resource with all that its row has.
struct ResourceRow {
    std::string type, title;
    bool exported = false, virtual_ = false;
    std::optional<std::string> file;
    std::optional<std::int64_t> line;
    std::string tags;        ///< JSON, sorted, each once
    std::string parameters;  ///< canonical JSON
    std::string exact;       ///< with secrets and references; empty: as `parameters`
    bool secret = false;     ///< `exact` holds something Sensitive, and is to be encrypted
    std::string kind, aliases;
    Digest parameters_hash, row_hash;

    /// Fills the hashes (and `secret`) from the rest. `secrets` null: what is Sensitive is dropped.
    Result<void> hash(Secrets* secrets);
};

/// What catalogs has beside its edges. Absent texts are null.
struct CatalogRow {
    std::string version;
    int api_version = 9;
    std::string environment, producer;
    std::optional<std::string> transaction_uuid, catalog_uuid, code_id, job_id;
    std::int64_t producer_timestamp = 0;
    std::int64_t received = 0;
    std::string wire_digest;  ///< empty: null
};

struct CatalogChange {
    std::size_t inserted = 0, deleted = 0;
    bool edges_changed = false;
    std::vector<std::int64_t> exported;  ///< resources that it exports and did not before
};

/// What collectors ask for of an exported resource that was made just now.
Result<void> index_export(Database& db, std::int64_t id, const ResourceRow& row);

/// resources.id of each row, made where it is not there yet.
Result<std::vector<Writer::ResourceRef>> store_resources(Writer& writer,
                                                         std::span<ResourceRow> rows);

/// `edges` by position in `refs`. The content's hash, whatever the order of either.
Digest content_hash(std::string_view certname, const std::vector<Writer::ResourceRef>& refs,
                    const std::vector<PackedEdge>& edges);

/// Makes `refs` and `edges` (by position) the newest catalog of the node.
Result<CatalogChange> store_content(Writer& writer, std::int64_t node,
                                    const std::vector<Writer::ResourceRef>& refs,
                                    const std::vector<PackedEdge>& edges, const Digest& hash,
                                    const CatalogRow& row);
/// The same content again: only what is said of it is renewed. `wire_digest` is kept where the row
/// has none.
Result<void> renew_catalog(Writer& writer, std::int64_t node, const CatalogRow& row);

}  // namespace bunraku::store
