// SPDX-License-Identifier: Apache-2.0
#include "store/engine/catalog_rows.h"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_map>

#include "core/base/assert.h"
#include "core/codec/json_cursor.h"
#include "store/db/bulk.h"
#include "store/db/kind_sets.h"
#include "store/db/schema.h"
#include "store/db/search_index.h"
#include "store/db/secrets.h"
#include "store/db/source_locations.h"
#include "store/engine/history.h"
#include "store/engine/undeclared.h"
#include "store/query/search_keys.h"

namespace bunraku::store {

namespace {

/// Adds the ids of the rows that exist in `table`, keyed by hash.
Result<void> find_ids(Database& db, std::string_view table, std::string_view column,
                      const std::vector<Digest>& wanted,
                      std::unordered_map<Digest, std::int64_t, DigestHash>& out) {
    if (wanted.empty()) return {};
    if (db.postgresql()) {
        std::vector<std::string_view> blobs;
        blobs.reserve(wanted.size());
        for (const Digest& d : wanted) blobs.push_back(bytes_of(d));
        Statement s = BUNRAKU_TRY(db.prepare(fmt::format(
            "SELECT {}, id FROM {} WHERE {} = ANY (?::bytea[])", column, table, column)));
        s.bind_blob_array(blobs);
        while (BUNRAKU_TRY(s.step())) out.emplace(digest_from(s.blob(0)), s.integer(1));
        return {};
    }
    Statement s =
        BUNRAKU_TRY(db.prepare(fmt::format("SELECT id FROM {} WHERE {} = ?", table, column)));
    for (const Digest& d : wanted) {
        s.bind_blob(bytes_of(d));
        if (BUNRAKU_TRY(s.step())) out.emplace(d, s.integer(0));
        s.reset();
    }
    return {};
}

/// Finds the ids of those of `wanted` that have none yet, because another writer has inserted them
/// meanwhile.
Result<void> find_others(Database& db, std::string_view table, std::string_view column,
                         std::vector<Digest>& wanted,
                         std::unordered_map<Digest, std::int64_t, DigestHash>& ids) {
    std::erase_if(wanted, [&](const Digest& d) { return ids[d] != 0; });
    if (wanted.empty()) return {};
    std::unordered_map<Digest, std::int64_t, DigestHash> made;
    BUNRAKU_TRY_VOID(find_ids(db, table, column, wanted, made));
    for (const auto& [digest, id] : made) ids[digest] = id;
    return {};
}

/// Stores the searchable values of an exported resource: each parameter, and the members of arrays.
Result<void> remember_export(Bulk& tags, Bulk& params, std::int64_t id, const ResourceRow& row) {
    codec::JsonCursor tag_list(row.tags);
    tag_list.enter_array();
    while (tag_list.next_element()) {
        tags.text(tag_list.string()).integer(id);
        BUNRAKU_TRY_VOID(tags.end_row());
    }
    codec::JsonCursor object(row.parameters);
    object.enter_object();
    std::string_view key;
    while (object.next_key(&key)) {
        std::string name(key);
        std::string_view value = object.skip();
        if (value == "null") continue;
        params.text(name).text(query::match_of(value)).integer(0).integer(id);
        BUNRAKU_TRY_VOID(params.end_row());
        if (!value.starts_with('[')) continue;
        codec::JsonCursor list(value);
        list.enter_array();
        while (list.next_element()) {
            params.text(name).text(query::match_of(list.skip())).integer(1).integer(id);
            BUNRAKU_TRY_VOID(params.end_row());
        }
    }
    return {};
}

void bind_metadata(Statement& s, const CatalogRow& row, std::int64_t environment,
                   std::int64_t producer) {
    s.bind(row.version).bind(row.api_version);
    bind_id(s, environment);
    s.bind(row.transaction_uuid).bind(row.catalog_uuid).bind(row.code_id).bind(row.job_id);
    bind_id(s, producer);
    s.bind(row.producer_timestamp).bind(row.received);
}

}  // namespace

Result<void> ResourceRow::hash(Secrets* secrets) {
    secret = holds_secrets(exact);
    if (secret && !secrets) {
        exact.clear();
        secret = false;
    }
    BUNRAKU_ASSERT(!secret || (secrets && !exact.empty()));
    Sha1 content;
    content.part(type).part(title).part(parameters);
    if (secret) {
        // The hash is public, so it is keyed: otherwise it would confirm a correct guess of the
        // secret.
        content.part(bytes_of(BUNRAKU_TRY(secrets->digest(exact))));
    } else if (!exact.empty()) {
        content.part(exact);
    }
    parameters_hash = content.digest();
    Sha1 whole;
    whole.add(bytes_of(parameters_hash))
        .number(exported | virtual_ << 1)
        .number(line.value_or(0))
        .part(file.value_or(""))
        .part(tags)
        .part(kind)
        .part(aliases);
    // An empty file name differs from an unknown one. Puppet's Class[main] has an empty one.
    if (file && file->empty()) whole.part("file");
    if (line && *line == 0) whole.part("line");
    row_hash = whole.digest();
    return {};
}

namespace {

constexpr const char* kNotTwice = "ON CONFLICT DO NOTHING";

Bulk exported_tags(Database& db) {
    return {db,
            "exported_tags",
            {{"tag", Bulk::Type::Text}, {"resource_id", Bulk::Type::Integer}},
            kNotTwice};
}
Bulk exported_params(Database& db) {
    return {db,
            "exported_params",
            {{"name", Bulk::Type::Text},
             {"value", Bulk::Type::Text},
             {"member", Bulk::Type::Integer},
             {"resource_id", Bulk::Type::Integer}},
            kNotTwice};
}

}  // namespace

Result<void> index_export(Database& db, std::int64_t id, const ResourceRow& row) {
    Bulk tags = exported_tags(db), params = exported_params(db);
    BUNRAKU_TRY_VOID(remember_export(tags, params, id, row));
    BUNRAKU_TRY_VOID(tags.flush());
    return params.flush();
}

namespace {

/// Stores resources that the writer does not know yet.
class NewResources {
public:
    /// `unknown` has the indexes of these resources in `rows`.
    NewResources(Writer& writer, std::span<const ResourceRow> rows,
                 std::vector<std::size_t> unknown)
        : writer_(writer), db_(writer.db()), rows_(rows), unknown_(std::move(unknown)) {
        // Sorted the same way everywhere, so that two writers cannot deadlock.
        std::sort(unknown_.begin(), unknown_.end(),
                  [&](auto a, auto b) { return rows_[a].row_hash < rows_[b].row_hash; });
    }

    /// Stores the resources that the database does not have.
    Result<void> store() {
        BUNRAKU_TRY_VOID(find_ids(db_, "resources", "row_hash", row_hashes(unknown_), ids_));
        for (std::size_t i : unknown_) {
            if (!ids_.contains(rows_[i].row_hash)) missing_.push_back(i);
        }
        BUNRAKU_ASSERT(missing_.size() <= unknown_.size() && unknown_.size() <= rows_.size());
        if (missing_.empty()) return {};
        // Parameters are stored before the resources that refer to them.
        auto parameters = BUNRAKU_TRY(store_parameters());
        BUNRAKU_TRY_VOID(index_parameters(std::move(parameters)));
        BUNRAKU_TRY_VOID(insert_resources());
        return index_exports();
    }

    /// Fills the references to the resources, and remembers them in the writer.
    Result<void> refer(std::vector<Writer::ResourceRef>& out) {
        SourceLocations places;
        for (std::size_t i : unknown_) {
            Place place{rows_[i].file, rows_[i].line};
            places.emplace(place.hash(), std::move(place));
        }
        BUNRAKU_TRY_VOID(number_source_locations(writer_, places));
        for (std::size_t i : unknown_) {
            const ResourceRow& r = rows_[i];
            std::uint32_t type_kind = writer_.kind_of(r.type, r.exported);
            out[i] = {
                ids_[r.row_hash], r.row_hash, type_kind,
                r.type == kTitledType ? writer_.kind_of(r.type, r.exported, r.title) : type_kind,
                places[Place{r.file, r.line}.hash()].id};
            BUNRAKU_ASSERT(out[i].place != 0);
            if (out[i].id == 0) return base::failure("A resource could not be stored");
            writer_.resources.put(r.row_hash, out[i]);
        }
        return {};
    }

private:
    std::vector<Digest> row_hashes(const std::vector<std::size_t>& indexes) const {
        std::vector<Digest> out;
        for (std::size_t i : indexes) out.push_back(rows_[i].row_hash);
        return out;
    }

    /// Stores the parameters that the database does not have. Returns the hashes of those that this
    /// writer has inserted, in order.
    Result<std::vector<Digest>> store_parameters() {
        std::vector<Digest> wanted;
        for (std::size_t i : missing_) wanted.push_back(rows_[i].parameters_hash);
        std::sort(wanted.begin(), wanted.end());
        BUNRAKU_TRY_VOID(find_ids(db_, "parameters", "hash", wanted, parameter_ids_));
        Bulk parameters(db_, "parameters",
                        {{"hash", Bulk::Type::Blob},
                         {"parameters", Bulk::Type::JsonText},
                         {"exact", Bulk::Type::Text},
                         {"sealed", Bulk::Type::Blob}},
                        db_.postgresql() ? "ON CONFLICT (hash) DO NOTHING RETURNING hash, id"
                                         : "ON CONFLICT (hash) DO NOTHING");
        parameters.returned(
            [&](Statement& s) { parameter_ids_[digest_from(s.blob(0))] = s.integer(1); });
        std::vector<Digest> inserted;
        std::vector<std::size_t> by_parameters = missing_;
        std::sort(by_parameters.begin(), by_parameters.end(), [&](auto a, auto b) {
            return rows_[a].parameters_hash < rows_[b].parameters_hash;
        });
        for (std::size_t i : by_parameters) {
            const ResourceRow& r = rows_[i];
            if (!parameter_ids_.emplace(r.parameters_hash, 0).second) continue;
            BUNRAKU_TRY_VOID(add_parameters(parameters, r));
            if (!db_.postgresql()) parameter_ids_[r.parameters_hash] = parameters.last_id();
            inserted.push_back(r.parameters_hash);
        }
        BUNRAKU_TRY_VOID(parameters.flush());
        std::vector<Digest> others = inserted;
        BUNRAKU_TRY_VOID(find_others(db_, "parameters", "hash", others, parameter_ids_));
        std::sort(others.begin(), others.end());
        std::erase_if(inserted, [&](const Digest& d) {
            return std::binary_search(others.begin(), others.end(), d);
        });
        std::sort(inserted.begin(), inserted.end());
        BUNRAKU_ASSERT(inserted.size() <= missing_.size());
        return inserted;
    }

    Result<void> add_parameters(Bulk& parameters, const ResourceRow& r) {
        parameters.blob(bytes_of(r.parameters_hash)).text(r.parameters);
        parameters.optional(r.secret ? std::string_view() : r.exact);
        if (r.secret) {
            BUNRAKU_ASSERT(writer_.secrets() != nullptr);
            BUNRAKU_TRY_VOID(writer_.check_key());
            parameters.blob(
                BUNRAKU_TRY(writer_.secrets()->seal(r.exact, bytes_of(r.parameters_hash))));
        } else {
            parameters.null();
        }
        return parameters.end_row();
    }

    /// Indexes the parameters that this writer has inserted; the writers that inserted the others
    /// index those.
    Result<void> index_parameters(std::vector<Digest> inserted) {
        ParameterIndex index(db_);
        for (std::size_t i : missing_) {
            const ResourceRow& r = rows_[i];
            auto at = std::lower_bound(inserted.begin(), inserted.end(), r.parameters_hash);
            if (at == inserted.end() || *at != r.parameters_hash) continue;
            inserted.erase(at);
            BUNRAKU_TRY_VOID(index.add(r.type, parameter_ids_[r.parameters_hash], r.parameters));
        }
        return index.flush();
    }

    Result<void> insert_resources() {
        std::vector<std::string_view> tag_texts;
        for (std::size_t i : missing_) tag_texts.emplace_back(rows_[i].tags);
        IdsByDigest tag_sets;
        BUNRAKU_TRY_VOID(tag_set_ids(writer_, tag_texts, tag_sets));
        Bulk resources(db_, "resources",
                       {{"row_hash", Bulk::Type::Blob},
                        {"parameters_id", Bulk::Type::Integer},
                        {"type", Bulk::Type::Text},
                        {"title", Bulk::Type::Text},
                        {"exported", Bulk::Type::Integer},
                        {"virtual", Bulk::Type::Integer},
                        {"file", Bulk::Type::Text},
                        {"line", Bulk::Type::Integer},
                        {"tags", Bulk::Type::JsonText},
                        {"kind", Bulk::Type::Text},
                        {"aliases", Bulk::Type::Json},
                        {"tag_set_id", Bulk::Type::Integer}},
                       db_.postgresql() ? "ON CONFLICT (row_hash) DO NOTHING RETURNING row_hash, id"
                                        : "ON CONFLICT (row_hash) DO NOTHING");
        resources.returned([&](Statement& s) { ids_[digest_from(s.blob(0))] = s.integer(1); });
        for (std::size_t i : missing_) {
            const ResourceRow& r = rows_[i];
            if (!ids_.emplace(r.row_hash, 0).second) continue;
            resources.blob(bytes_of(r.row_hash)).integer(parameter_ids_[r.parameters_hash]);
            resources.text(r.type).text(r.title).integer(r.exported).integer(r.virtual_);
            r.file ? resources.text(*r.file) : resources.null();
            r.line ? resources.integer(*r.line) : resources.null();
            resources.text(r.tags).optional(r.kind).optional(r.aliases);
            BUNRAKU_ASSERT(tag_sets.contains(sha1(r.tags)) &&
                           parameter_ids_.contains(r.parameters_hash));
            resources.integer(tag_sets[sha1(r.tags)]);
            BUNRAKU_TRY_VOID(resources.end_row());
            if (!db_.postgresql()) ids_[r.row_hash] = resources.last_id();
        }
        BUNRAKU_TRY_VOID(resources.flush());
        std::vector<Digest> others = row_hashes(missing_);
        return find_others(db_, "resources", "row_hash", others, ids_);
    }

    Result<void> index_exports() {
        Bulk tags = exported_tags(db_), params = exported_params(db_);
        for (std::size_t i : missing_) {
            if (!rows_[i].exported) continue;
            BUNRAKU_TRY_VOID(remember_export(tags, params, ids_[rows_[i].row_hash], rows_[i]));
        }
        BUNRAKU_TRY_VOID(tags.flush());
        return params.flush();
    }

    Writer& writer_;
    Database& db_;
    std::span<const ResourceRow> rows_;
    std::vector<std::size_t> unknown_;
    std::vector<std::size_t> missing_;  ///< those of unknown_ that the database does not have
    std::unordered_map<Digest, std::int64_t, DigestHash> ids_, parameter_ids_;
};

}  // namespace

Result<std::vector<Writer::ResourceRef>> store_resources(Writer& writer,
                                                         std::span<ResourceRow> rows) {
    std::vector<Writer::ResourceRef> out(rows.size());
    std::vector<std::size_t> unknown;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (const auto* ref = writer.resources.find(rows[i].row_hash)) {
            BUNRAKU_ASSERT(ref->row_hash == rows[i].row_hash && ref->id != 0);
            out[i] = *ref;
        } else {
            unknown.push_back(i);
        }
    }
    if (unknown.empty()) return out;
    NewResources fresh(writer, rows, std::move(unknown));
    BUNRAKU_TRY_VOID(fresh.store());
    BUNRAKU_TRY_VOID(fresh.refer(out));
    return out;
}

Digest content_hash(std::string_view certname, const std::vector<Writer::ResourceRef>& refs,
                    const std::vector<PackedEdge>& edges) {
    std::vector<std::uint32_t> order(refs.size());
    for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
    std::sort(order.begin(), order.end(),
              [&](auto a, auto b) { return refs[a].row_hash < refs[b].row_hash; });
    std::vector<std::int64_t> rank(refs.size());
    Sha1 sum;
    sum.part(certname);
    for (std::size_t i = 0; i < order.size(); ++i) {
        rank[order[i]] = static_cast<std::int64_t>(i);
        sum.add(bytes_of(refs[order[i]].row_hash));
    }
    std::vector<PackedEdge> ranked;
    ranked.reserve(edges.size());
    for (const PackedEdge& e : edges) {
        BUNRAKU_ASSERT(e.source >= 0 && static_cast<std::size_t>(e.source) < rank.size());
        BUNRAKU_ASSERT(e.target >= 0 && static_cast<std::size_t>(e.target) < rank.size());
        ranked.push_back({rank[static_cast<std::size_t>(e.source)],
                          rank[static_cast<std::size_t>(e.target)], e.kind});
    }
    std::sort(ranked.begin(), ranked.end());
    return sum.part(pack_edges(ranked)).digest();
}

Result<CatalogChange> store_content(Writer& writer, std::int64_t node,
                                    const std::vector<Writer::ResourceRef>& refs,
                                    const std::vector<PackedEdge>& edges, const Digest& hash,
                                    const CatalogRow& row) {
    BUNRAKU_ASSERT(node != 0);
    Database& db = writer.db();
    CatalogChange change;
    std::vector<std::int64_t> wanted;
    wanted.reserve(refs.size());
    for (const auto& ref : refs) wanted.push_back(ref.id);
    std::sort(wanted.begin(), wanted.end());
    std::vector<std::int64_t> stored =
        BUNRAKU_TRY(linked_ids(db, "catalog_resources", "resource_id", node));
    std::vector<std::int64_t> added, removed;
    std::set_difference(wanted.begin(), wanted.end(), stored.begin(), stored.end(),
                        std::back_inserter(added));
    std::set_difference(stored.begin(), stored.end(), wanted.begin(), wanted.end(),
                        std::back_inserter(removed));
    BUNRAKU_ASSERT(stored.size() + added.size() == wanted.size() + removed.size());
    change.inserted = added.size();
    change.deleted = removed.size();
    for (const auto& ref : refs) {
        if (writer.kind(ref.type_kind).exported &&
            std::binary_search(added.begin(), added.end(), ref.id)) {
            change.exported.push_back(ref.id);
        }
    }
    BUNRAKU_TRY_VOID(add_links(db, "catalog_resources", "resource_id", node, added));
    BUNRAKU_TRY_VOID(remove_links(db, "catalog_resources", "resource_id", node, removed,
                                  kGcResources, writer.lost_at()));
    BUNRAKU_TRY_VOID(remember_version(writer, node, hash, row, !stored.empty(), added, removed));
    BUNRAKU_TRY_VOID(record_undeclared(writer, node, row, added, removed));
    if (!added.empty() || !removed.empty()) {
        BUNRAKU_TRY_VOID(store_type_counts(writer, node, refs));
    }
    BUNRAKU_TRY_VOID(store_source_locations(writer, node, refs, hash));

    std::vector<PackedEdge> rows;
    rows.reserve(edges.size());
    for (const PackedEdge& e : edges) {
        BUNRAKU_ASSERT(e.source >= 0 && static_cast<std::size_t>(e.source) < refs.size());
        BUNRAKU_ASSERT(e.target >= 0 && static_cast<std::size_t>(e.target) < refs.size());
        rows.push_back({refs[static_cast<std::size_t>(e.source)].id,
                        refs[static_cast<std::size_t>(e.target)].id, e.kind});
    }
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());

    BUNRAKU_ASSERT(rows.size() <= edges.size());
    std::int64_t environment = BUNRAKU_TRY(writer.environment(row.environment));
    std::int64_t producer = BUNRAKU_TRY(writer.producer(row.producer));
    std::int64_t kinds = BUNRAKU_TRY(kind_set(writer, refs));
    bool pg = db.postgresql();
    std::string columns =
        "version, api_version, environment_id, transaction_uuid, catalog_uuid, code_id, job_id,"
        " producer_id, producer_timestamp, timestamp, certname_id, hash, wire_digest, "
        "kind_set_id, ";
    std::string renewed;
    for (const char* c : {"version", "api_version", "environment_id", "transaction_uuid",
                          "catalog_uuid", "code_id", "job_id", "producer_id", "producer_timestamp",
                          "timestamp", "hash", "wire_digest", "kind_set_id"}) {
        renewed += fmt::format("{0} = excluded.{0}, ", c);
    }
    std::string sql =
        pg ? fmt::format(
                 "INSERT INTO catalogs ({}edge_sources, edge_targets, edge_kinds)"
                 " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                 " ON CONFLICT (certname_id) DO UPDATE SET {}edge_sources = excluded.edge_sources,"
                 " edge_targets = excluded.edge_targets, edge_kinds = excluded.edge_kinds",
                 columns, renewed)
           : fmt::format(
                 "INSERT INTO catalogs ({}edges)"
                 " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"
                 " ON CONFLICT (certname_id) DO UPDATE SET {}edges = excluded.edges",
                 columns, renewed);
    Statement s = BUNRAKU_TRY(db.prepare(sql));
    bind_metadata(s, row, environment, producer);
    s.bind(node).bind_blob(bytes_of(hash));
    row.wire_digest.empty() ? s.bind_null() : s.bind_blob(row.wire_digest);
    s.bind(kinds);
    if (pg) {
        std::vector<std::int64_t> column;
        for (std::int64_t PackedEdge::* field :
             {&PackedEdge::source, &PackedEdge::target, &PackedEdge::kind}) {
            column.clear();
            for (const PackedEdge& e : rows) column.push_back(e.*field);
            s.bind_array(column);
        }
    } else {
        s.bind_blob(pack_edges(rows));
    }
    BUNRAKU_TRY_VOID(s.run_later());
    return change;
}

Result<bool> renew_unchanged_catalog(Writer& writer, std::string_view certname,
                                     const CatalogRow& row) {
    // The names of environment and producer are not looked up in the writer's cache, because their
    // ids may have been removed. An id that the row refers to cannot be removed.
    Statement s = BUNRAKU_TRY(writer.db().prepare(
        "UPDATE catalogs AS c SET version = ?, api_version = ?, transaction_uuid = ?,"
        " catalog_uuid = ?, code_id = ?, job_id = ?, producer_timestamp = ?, timestamp = ?"
        " FROM (SELECT id FROM certnames WHERE certname = ? AND deactivated IS NULL"
        " AND expired IS NULL FOR UPDATE) AS n"
        " WHERE c.certname_id = n.id AND c.wire_digest = ? AND c.producer_timestamp <= ?"
        " AND c.environment_id IS NOT DISTINCT FROM (SELECT id FROM environments WHERE name = ?)"
        " AND c.producer_id IS NOT DISTINCT FROM (SELECT id FROM producers WHERE name = ?)"
        " AND (SELECT value FROM store_meta WHERE name = 'usable_since') <= ? RETURNING 1"));
    s.bind(row.version).bind(row.api_version).bind(row.transaction_uuid).bind(row.catalog_uuid);
    s.bind(row.code_id).bind(row.job_id).bind(row.producer_timestamp).bind(row.received);
    s.bind(certname).bind_blob(row.wire_digest).bind(row.producer_timestamp);
    s.bind(row.environment).bind(row.producer).bind(newest_schema());
    return writer.run_alone(s);
}

Result<void> renew_catalog(Writer& writer, std::int64_t node, const CatalogRow& row) {
    BUNRAKU_ASSERT(node != 0);
    std::int64_t environment = BUNRAKU_TRY(writer.environment(row.environment));
    std::int64_t producer = BUNRAKU_TRY(writer.producer(row.producer));
    Statement s = BUNRAKU_TRY(writer.db().prepare(
        "UPDATE catalogs SET version = ?, api_version = ?, environment_id = ?,"
        " transaction_uuid = ?, catalog_uuid = ?, code_id = ?, job_id = ?, producer_id = ?,"
        " producer_timestamp = ?, timestamp = ?, wire_digest = coalesce(?, wire_digest)"
        " WHERE certname_id = ?"));
    bind_metadata(s, row, environment, producer);
    row.wire_digest.empty() ? s.bind_null() : s.bind_blob(row.wire_digest);
    s.bind(node);
    return s.run_later();
}

}  // namespace bunraku::store
