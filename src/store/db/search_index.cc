// SPDX-License-Identifier: Apache-2.0
#include "store/db/search_index.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <string>

#include "core/base/assert.h"
#include "core/codec/json_cursor.h"
#include "store/db/hashed_sets.h"
#include "store/db/support.h"
#include "store/query/dialect.h"
#include "store/query/search_keys.h"

namespace bunraku::store {

namespace {

/// Adds the members of a new set. The tags are sorted.
Result<void> add_members(Bulk& members, std::int64_t id, std::string_view tags) {
    codec::JsonCursor list(tags);
    list.enter_array();
    std::optional<std::string> last;
    while (list.next_element()) {
        std::string tag(list.string());
        if (last == tag) continue;
        members.text(tag).integer(id);
        last = std::move(tag);
        BUNRAKU_TRY_VOID(members.end_row());
    }
    return {};
}

Bulk tag_members(Database& db) {
    return {
        db, "tag_set_members", {{"tag", Bulk::Type::Text}, {"tag_set_id", Bulk::Type::Integer}}};
}

Result<std::unordered_map<Digest, std::int64_t, DigestHash>> find_tag_sets(
    Database& db, const std::map<Digest, std::string_view>& wanted) {
    std::unordered_map<Digest, std::int64_t, DigestHash> out;
    std::vector<std::string_view> blobs;
    for (const auto& [hash, tags] : wanted) blobs.push_back(bytes_of(hash));
    Statement s =
        BUNRAKU_TRY(db.prepare("SELECT hash, id FROM tag_sets WHERE hash = ANY (?::bytea[])"));
    s.bind_blob_array(blobs);
    while (BUNRAKU_TRY(s.step())) out.emplace(digest_from(s.blob(0)), s.integer(1));
    return out;
}

/// Creates the set unless another writer has just created it. Adds its members to `members`.
Result<std::int64_t> make_tag_set(Database& db, const Digest& hash, std::string_view tags,
                                  Bulk& members) {
    MadeSet set = BUNRAKU_TRY(make_set(db, "tag_sets", hash));
    if (set.fresh) BUNRAKU_TRY_VOID(add_members(members, set.id, tags));
    return set.id;
}

}  // namespace

// --- Tag sets

Result<void> tag_set_ids(Writer& writer, std::span<const std::string_view> sets, IdsByDigest& out) {
    // Ordered by hash, so that two writers cannot deadlock.
    std::map<Digest, std::string_view> missing;
    for (std::string_view tags : sets) {
        Digest hash = sha1(tags);
        if (out.contains(hash)) continue;
        if (const std::int64_t* id = writer.tag_sets.find(hash)) {
            out.emplace(hash, *id);
        } else {
            missing.emplace(hash, tags);
        }
    }
    if (missing.empty()) return {};
    Database& db = writer.db();
    Bulk members = tag_members(db);
    if (db.postgresql()) {
        std::unordered_map<Digest, std::int64_t, DigestHash> found =
            BUNRAKU_TRY(find_tag_sets(db, missing));
        Bulk new_sets(db, "tag_sets", {{"hash", Bulk::Type::Blob}},
                      "ON CONFLICT (hash) DO NOTHING RETURNING hash, id");
        std::vector<std::pair<Digest, std::int64_t>> made;
        new_sets.returned(
            [&](Statement& s) { made.emplace_back(digest_from(s.blob(0)), s.integer(1)); });
        for (const auto& [hash, tags] : missing) {
            if (found.contains(hash)) continue;
            new_sets.blob(bytes_of(hash));
            BUNRAKU_TRY_VOID(new_sets.end_row());
        }
        BUNRAKU_TRY_VOID(new_sets.flush());
        for (const auto& [hash, id] : made) {
            found.emplace(hash, id);
            BUNRAKU_TRY_VOID(add_members(members, id, missing[hash]));
        }
        for (const auto& [hash, id] : found) {
            missing.erase(hash);
            out.emplace(hash, id);
            writer.tag_sets.put(hash, id);
        }
        // Other writers have created the remaining sets meanwhile.
    }
    for (const auto& [hash, tags] : missing) {
        std::int64_t id = BUNRAKU_TRY(find_set(db, "tag_sets", hash));
        if (id == 0) id = BUNRAKU_TRY(make_tag_set(db, hash, tags, members));
        if (id == 0) return base::failure("A set of tags could not be stored");
        out.emplace(hash, id);
        writer.tag_sets.put(hash, id);
    }
    return members.flush();
}

// --- Parameter values

ParameterIndex::ParameterIndex(Database& db)
    : rows_(db, "parameter_values",
            {{"value_hash", Bulk::Type::Integer},
             {"type_hash", Bulk::Type::Integer},
             {"parameters_id", Bulk::Type::Integer}}) {}

Result<void> ParameterIndex::add(std::string_view type, std::int64_t id,
                                 std::string_view parameters) {
    std::int64_t type_number = query::type_hash(type);
    seen_.clear();
    codec::JsonCursor object(parameters);
    object.enter_object();
    std::string_view key;
    while (object.next_key(&key)) {
        std::string name(key);
        std::string_view value = object.skip();
        if (!query::is_scalar_json(value)) continue;
        std::int64_t hash = query::parameter_hash(name, value);
        if (!seen_.insert(hash).second) continue;
        rows_.integer(hash).integer(type_number).integer(id);
        BUNRAKU_TRY_VOID(rows_.end_row());
    }
    return {};
}

// --- Number of resources of each type

Result<void> store_type_counts(Writer& writer, std::int64_t node,
                               const std::vector<Writer::ResourceRef>& refs) {
    std::unordered_map<std::uint32_t, std::int64_t> wanted;
    for (const auto& ref : refs) ++wanted[ref.type_kind];
    Database& db = writer.db();
    std::vector<std::uint32_t> gone;
    {
        Statement s = BUNRAKU_TRY(db.prepare(
            "SELECT type, exported, resources FROM catalog_types WHERE certname_id = ?"));
        s.bind(node);
        while (BUNRAKU_TRY(s.step())) {
            std::uint32_t kind = writer.kind_of(s.text(0), s.integer(1) != 0);
            auto at = wanted.find(kind);
            if (at == wanted.end()) {
                gone.push_back(kind);
            } else if (at->second == s.integer(2)) {
                wanted.erase(at);
            }
        }
    }
    for (std::uint32_t kind : gone) {
        Statement s = BUNRAKU_TRY(db.prepare(
            "DELETE FROM catalog_types WHERE certname_id = ? AND type = ? AND exported = ?"));
        s.bind(node).bind(writer.kind(kind).type).bind(writer.kind(kind).exported);
        BUNRAKU_TRY_VOID(s.run_later());
    }
    if (wanted.empty()) return {};
    Bulk rows(db, "catalog_types",
              {{"certname_id", Bulk::Type::Integer},
               {"type", Bulk::Type::Text},
               {"exported", Bulk::Type::Integer},
               {"resources", Bulk::Type::Integer}},
              "ON CONFLICT (certname_id, type, exported) DO UPDATE SET"
              " resources = excluded.resources");
    for (const auto& [number, count] : wanted) {
        BUNRAKU_ASSERT(count > 0);
        const Writer::Kind& kind = writer.kind(number);
        rows.integer(node).text(kind.type).integer(kind.exported).integer(count);
        BUNRAKU_TRY_VOID(rows.end_row());
    }
    return rows.flush();
}

// --- Migration from schema 2

Result<void> fill_search_index(Database& db) {
    bool pg = db.postgresql();
    Dialect dialect(db.backend());
    BUNRAKU_TRY_VOID(
        db.execute(pg ? "CREATE TEMPORARY TABLE tags_of_set (tags JSONB, id BIGINT) ON COMMIT DROP"
                      : "CREATE TEMPORARY TABLE tags_of_set (tags TEXT PRIMARY KEY, id INTEGER)"));
    try {
        std::vector<std::string> sets;
        {
            Statement s = BUNRAKU_TRY(db.prepare_once(
                fmt::format("SELECT {} FROM (SELECT DISTINCT tags FROM resources) r",
                            dialect.json_text("r.tags"))));
            while (BUNRAKU_TRY(s.step())) sets.emplace_back(s.text(0));
        }
        Bulk members = tag_members(db);
        Bulk map(db, "tags_of_set", {{"tags", Bulk::Type::Json}, {"id", Bulk::Type::Integer}});
        for (const std::string& stored : sets) {
            std::string tags = strings_to_json(strings_from_json(stored));
            Digest hash = sha1(tags);
            std::int64_t id = BUNRAKU_TRY(find_set(db, "tag_sets", hash));
            if (id == 0) id = BUNRAKU_TRY(make_tag_set(db, hash, tags, members));
            map.text(stored).integer(id);
            BUNRAKU_TRY_VOID(map.end_row());
        }
        BUNRAKU_TRY_VOID(members.flush());
        BUNRAKU_TRY_VOID(map.flush());
        BUNRAKU_TRY_VOID(db.execute(
            pg ? "UPDATE resources r SET tag_set_id = t.id FROM tags_of_set t WHERE t.tags = r.tags"
               : "UPDATE resources SET tag_set_id = (SELECT t.id FROM tags_of_set t"
                 " WHERE t.tags = resources.tags)"));
        if (!pg) BUNRAKU_TRY_VOID(db.execute("DROP TABLE tags_of_set"));

        // Reads some thousand rows at a time to limit memory use.
        ParameterIndex index(db);
        constexpr std::int64_t kAtOnce = 5000;
        for (std::int64_t last = 0, seen = kAtOnce; seen == kAtOnce;) {
            Statement s = BUNRAKU_TRY(db.prepare(fmt::format(
                "SELECT p.id, (SELECT r.type FROM resources r WHERE r.parameters_id = p.id"
                " LIMIT 1), {} FROM parameters p WHERE p.id > ? ORDER BY p.id LIMIT ?",
                dialect.json_text("p.parameters"))));
            s.bind(last).bind(kAtOnce);
            std::string canonical;
            for (seen = 0; BUNRAKU_TRY(s.step()); ++seen) {
                last = s.integer(0);
                if (s.is_null(1)) continue;
                canonical.clear();
                codec::JsonCursor(s.text(2)).canonical(canonical);
                BUNRAKU_TRY_VOID(index.add(s.text(1), last, canonical));
            }
        }
        BUNRAKU_TRY_VOID(index.flush());
    } catch (const codec::JsonError& e) {
        return base::failure(fmt::format("Could not use the store {}: {}", db.path(), e.message));
    }
    return db.execute(
        "INSERT INTO catalog_types (certname_id, type, exported, resources)"
        " SELECT l.certname_id, r.type, r.exported, count(*) FROM catalog_resources l"
        " JOIN resources r ON r.id = l.resource_id GROUP BY 1, 2, 3");
}

}  // namespace bunraku::store
