// SPDX-License-Identifier: Apache-2.0
#include "store/engine/history.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/diagnostic.h"
#include "core/codec/json_text.h"
#include "resources/catalog/restore.h"
#include "store/db/bulk.h"
#include "store/db/packed.h"
#include "store/engine/impl.h"
#include "store/query/dialect.h"

namespace bunraku::store {

namespace {

using IdList = std::vector<std::int64_t>;

/// Encodes a change: the number of added ids, these ids, and the removed ids.
std::string pack_change(const IdList& added, const IdList& removed) {
    BUNRAKU_ASSERT(std::ranges::is_sorted(added) && std::ranges::is_sorted(removed));
    IdList numbers{static_cast<std::int64_t>(added.size())};
    numbers.insert(numbers.end(), added.begin(), added.end());
    numbers.insert(numbers.end(), removed.begin(), removed.end());
    BUNRAKU_ASSERT(numbers.size() == 1 + added.size() + removed.size());
    return pack_numbers(numbers);
}

/// Restores `ids`, which are sorted, to the state before the change.
Result<void> undo(IdList& ids, std::string_view change) {
    IdList numbers = unpack_numbers(change);
    if (numbers.empty()) return {};
    const auto added = static_cast<std::size_t>(numbers[0]);
    if (added > numbers.size() - 1) return base::failure("A version of a catalog is damaged");
    auto middle = numbers.begin() + 1 + static_cast<std::ptrdiff_t>(added);
    IdList kept, before;
    std::set_difference(ids.begin(), ids.end(), numbers.begin() + 1, middle,
                        std::back_inserter(kept));
    std::set_union(kept.begin(), kept.end(), middle, numbers.end(), std::back_inserter(before));
    ids = std::move(before);
    return {};
}

struct Row {
    CatalogVersion version;
    std::string hash, previous, change;
};

Result<std::vector<Row>> rows_of(Database& db, std::int64_t node, bool changes) {
    Statement s = BUNRAKU_TRY(db.prepare(
        fmt::format("SELECT valid_from, hash, previous_hash, version, code_id, environment, added,"
                    " removed{} FROM catalog_versions WHERE certname_id = ?"
                    " ORDER BY valid_from DESC",
                    changes ? ", change" : "")));
    s.bind(node);
    std::vector<Row> out;
    while (BUNRAKU_TRY(s.step())) {
        Row row;
        CatalogVersion& v = row.version;
        v.valid_from = s.integer(0);
        if (!out.empty()) v.valid_until = out.back().version.valid_from;
        row.hash = s.blob(1);
        v.hash = codec::to_hex(digest_from(row.hash));
        v.first = s.is_null(2);
        if (!v.first) row.previous = s.blob(2);
        v.version = s.text(3);
        v.code_id = s.text(4);
        v.environment = s.text(5);
        v.added = static_cast<std::size_t>(s.integer(6));
        v.removed = static_cast<std::size_t>(s.integer(7));
        if (changes && !s.is_null(8)) row.change = s.blob(8);
        out.push_back(std::move(row));
    }
    // Earlier versions were removed, so the oldest one has no predecessor.
    if (!out.empty()) out.back().version.first = true;
    return out;
}

/// Returns 0 if the node is unknown.
Result<std::int64_t> node_of(Database& db, std::string_view certname) {
    Statement s = BUNRAKU_TRY(db.prepare("SELECT id FROM certnames WHERE certname = ?"));
    s.bind(certname);
    return BUNRAKU_TRY(s.step()) ? s.integer(0) : 0;
}

Result<std::optional<catalog::Resource>> read_one(Statement& s, std::int64_t id,
                                                  base::Arena& arena) {
    s.bind(id);
    if (!BUNRAKU_TRY(s.step())) return std::nullopt;
    catalog::Resource out;
    out.ref.type = s.text(0);
    out.ref.title = s.text(1);
    out.file = s.text(2);
    out.line = static_cast<int>(s.integer(3));
    out.tags = strings_from_json(s.text(4));
    out.exported = s.integer(5) != 0;
    catalog::Value data = BUNRAKU_TRY(value::parse_json(arena, s.text(6)));
    if (data.is_hash()) {
        for (const value::Entry& e : data.as_hash()) {
            out.parameters.push_back(
                {std::string(e.key.as_string()), catalog::restore_value(arena, e.value, {})});
        }
    }
    s.reset();
    return out;
}

Result<void> read_past(Database& db, const IdList& ids, catalog::Catalog& out) {
    Statement s = BUNRAKU_TRY(db.prepare(fmt::format(
        "SELECT r.type, r.title, r.file, r.line, r.tags, r.exported, {} FROM resources r"
        " JOIN parameters p ON p.id = r.parameters_id WHERE r.id = ?",
        Dialect(db.backend()).json_text("p.parameters"))));
    for (std::int64_t id : ids) {
        auto resource = BUNRAKU_TRY(read_one(s, id, *out.arena));
        if (!resource) {
            return base::failure(
                "The catalog of that time is no longer available: parts of it "
                "were removed");
        }
        out.resources.push_back(std::move(*resource));
    }
    std::sort(out.resources.begin(), out.resources.end(), [](const auto& a, const auto& b) {
        return std::tie(a.ref.type, a.ref.title) < std::tie(b.ref.type, b.ref.title);
    });
    return {};
}

Result<std::optional<PastCatalog>> past_catalog(Database& db, std::string_view certname,
                                                std::int64_t time) {
    const std::int64_t node = BUNRAKU_TRY(node_of(db, certname));
    if (node == 0) return std::nullopt;
    std::vector<Row> rows = BUNRAKU_TRY(rows_of(db, node, true));
    auto at = std::find_if(rows.begin(), rows.end(),
                           [&](const Row& r) { return r.version.valid_from <= time; });
    if (at == rows.end()) return std::nullopt;
    std::string hash;
    {
        Statement s = BUNRAKU_TRY(db.prepare("SELECT hash FROM catalogs WHERE certname_id = ?"));
        s.bind(node);
        if (BUNRAKU_TRY(s.step())) hash = s.blob(0);
    }
    IdList ids = BUNRAKU_TRY(linked_ids(db, "catalog_resources", "resource_id", node));
    // A catalog that an older program wrote has no version. The catalogs before it cannot be
    // reconstructed.
    for (auto row = rows.begin();; ++row) {
        BUNRAKU_ASSERT(row != rows.end() && row <= at);
        if (row->hash != hash) {
            return base::failure(fmt::format(
                "The catalogs of {} before a change by another program are not available",
                certname));
        }
        if (row == at) break;
        BUNRAKU_TRY_VOID(undo(ids, row->change));
        hash = row->previous;
    }
    PastCatalog out;
    out.version = at->version;
    out.catalog.arena = std::make_shared<base::Arena>();
    out.catalog.name = certname;
    out.catalog.version = at->version.version;
    out.catalog.version_is_number = false;
    out.catalog.environment = at->version.environment;
    out.catalog.code_id = at->version.code_id;
    BUNRAKU_TRY_VOID(read_past(db, ids, out.catalog));
    return out;
}

}  // namespace

Result<void> remember_version(Writer& writer, std::int64_t node, const Digest& hash,
                              const CatalogRow& row, bool known, const IdList& added,
                              const IdList& removed) {
    BUNRAKU_ASSERT(node != 0);
    BUNRAKU_ASSERT(known || removed.empty());
    if (writer.history_ttl_ms() <= 0) return {};
    // The start is the producer's time, but always later than the start of the previous version.
    Statement s = BUNRAKU_TRY(writer.db().prepare(fmt::format(
        "INSERT INTO catalog_versions (certname_id, valid_from, hash, previous_hash, version,"
        " code_id, environment, added, removed, change)"
        " SELECT ?1, (SELECT CASE WHEN max(valid_from) >= ?2 THEN max(valid_from) + 1 ELSE ?2 END"
        " FROM catalog_versions WHERE certname_id = ?1), ?3,"
        " (SELECT hash FROM catalogs WHERE certname_id = ?1), ?4, ?5, ?6, ?7, ?8,"
        " CAST(?9 AS {}) WHERE NOT EXISTS"
        " (SELECT 1 FROM catalogs WHERE certname_id = ?1 AND hash = ?3)",
        writer.postgresql() ? "bytea" : "BLOB")));
    s.bind(node).bind(row.producer_timestamp).bind_blob(bytes_of(hash)).bind(row.version);
    s.bind(row.code_id).bind_optional(row.environment);
    s.bind(added.size()).bind(removed.size());
    // The first version has no predecessor and is never undone.
    known ? s.bind_blob(pack_change(added, removed)) : s.bind_null();
    return s.run_later();
}

Result<void> keep_history_for(Writer& writer, std::int64_t ttl_ms) {
    Transaction transaction = BUNRAKU_TRY(writer.begin());
    if (writer.history_ttl_ms() == ttl_ms) return {};
    {
        Statement s = BUNRAKU_TRY(
            writer.db().prepare("INSERT INTO store_meta (name, value) VALUES ('history_ttl', ?)"
                                " ON CONFLICT (name) DO UPDATE SET value = excluded.value"));
        s.bind(ttl_ms);
        BUNRAKU_TRY_VOID(s.run());
    }
    return transaction.commit();
}

Result<std::vector<CatalogVersion>> catalog_versions(Database& db, std::string_view certname) {
    std::vector<CatalogVersion> out;
    const std::int64_t node = BUNRAKU_TRY(node_of(db, certname));
    if (node == 0) return out;
    for (Row& row : BUNRAKU_TRY(rows_of(db, node, false))) out.push_back(std::move(row.version));
    return out;
}

Result<bool> is_exported(Database& db, std::string_view type, std::string_view title) {
    Statement s = BUNRAKU_TRY(db.prepare(
        "SELECT 1 FROM resources WHERE type = ? AND title = ? AND exported = 1 LIMIT 1"));
    s.bind(type).bind(title);
    return s.step();
}

Result<std::optional<PastCatalog>> catalog_at(Database& db, std::string_view certname,
                                              std::int64_t time) {
    // All reads see the same snapshot, even if another process writes.
    Transaction transaction = BUNRAKU_TRY(Transaction::begin_read(db));
    try {
        return past_catalog(db, certname, time);
    } catch (const base::PuppetError& e) {
        return base::failure(e.message());
    }
}

}  // namespace bunraku::store
