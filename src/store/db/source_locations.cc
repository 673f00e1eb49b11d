// SPDX-License-Identifier: Apache-2.0
#include "store/db/source_locations.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "core/base/assert.h"
#include "store/db/bulk.h"
#include "store/db/hashed_sets.h"
#include "store/db/packed.h"

namespace bunraku::store {

namespace {

Result<std::int64_t> place_id(Database& db, const Digest& hash, const Place& place) {
    if (const std::int64_t known = BUNRAKU_TRY(find_set(db, "places", hash)); known != 0) {
        return known;
    }
    {
        Statement s =
            BUNRAKU_TRY(db.prepare("INSERT INTO places (hash, file, line) VALUES (?, ?, ?)"
                                   " ON CONFLICT (hash) DO NOTHING RETURNING id"));
        s.bind_blob(bytes_of(hash));
        place.file ? s.bind(*place.file) : s.bind_null();
        place.line ? s.bind(*place.line) : s.bind_null();
        if (BUNRAKU_TRY(s.step())) {
            const std::int64_t made = s.integer(0);
            BUNRAKU_TRY_VOID(s.run());
            return made;
        }
    }
    // Another writer has just created it.
    const std::int64_t made = BUNRAKU_TRY(find_set(db, "places", hash));
    if (made == 0) return base::failure("The source location of a resource could not be stored");
    return made;
}

/// Sets the ids of locations with one query, and creates the others with one statement. Does not
/// set those that another writer creates at the same time. PostgreSQL only.
Result<void> number_together(Database& db, SourceLocations& places,
                             const std::vector<std::pair<const Digest, Place>*>& unknown) {
    std::vector<std::string_view> hashes;
    for (const auto* entry : unknown) hashes.push_back(bytes_of(entry->first));
    const auto set_id = [&](const Statement& s) {
        const auto at = places.find(digest_from(s.blob(0)));
        BUNRAKU_ASSERT(at != places.end());
        at->second.id = s.integer(1);
    };
    {
        Statement s =
            BUNRAKU_TRY(db.prepare("SELECT hash, id FROM places WHERE hash = ANY (?::bytea[])"));
        s.bind_blob_array(hashes);
        while (BUNRAKU_TRY(s.step())) set_id(s);
    }
    using T = Bulk::Type;
    Bulk rows(db, "places", {{"hash", T::Blob}, {"file", T::Text}, {"line", T::Integer}},
              "ON CONFLICT (hash) DO NOTHING RETURNING hash, id");
    rows.returned([&](Statement& s) { set_id(s); });
    for (const auto* entry : unknown) {
        const Place& place = entry->second;
        if (place.id != 0) continue;
        rows.blob(bytes_of(entry->first));
        place.file ? rows.text(*place.file) : rows.null();
        place.line ? rows.integer(*place.line) : rows.null();
        BUNRAKU_TRY_VOID(rows.end_row());
    }
    return rows.flush();
}

Result<void> note(Database& db, std::int64_t node, std::string_view hash,
                  std::vector<std::int64_t> places) {
    std::sort(places.begin(), places.end());
    Statement s = BUNRAKU_TRY(db.prepare(
        "INSERT INTO catalog_places (certname_id, hash, places, generation) VALUES"
        " (?, ?, ?, (SELECT coalesce(sum(value), 0) FROM store_meta WHERE name IN"
        " ('generation', 'search'))) ON CONFLICT (certname_id) DO UPDATE SET hash = excluded.hash,"
        " places = excluded.places, generation = excluded.generation"));
    const std::string packed = pack_numbers(places);
    s.bind(node).bind_blob(hash).bind_blob(packed);
    return s.run_later();
}

}  // namespace

Digest Place::hash() const {
    Sha1 sum;
    sum.number(file ? 1 : 0).part(file.value_or("")).number(line ? 1 : 0).number(line.value_or(0));
    return sum.digest();
}

Result<void> number_source_locations(Writer& writer, SourceLocations& places) {
    std::vector<std::pair<const Digest, Place>*> unknown;  // in the order of their hashes
    for (auto& entry : places) {
        BUNRAKU_ASSERT(entry.first == entry.second.hash());
        if (const std::int64_t* known = writer.places.find(entry.first)) {
            entry.second.id = *known;
        } else {
            unknown.push_back(&entry);
        }
    }
    if (unknown.empty()) return {};
    if (writer.postgresql()) BUNRAKU_TRY_VOID(number_together(writer.db(), places, unknown));
    for (auto* entry : unknown) {
        Place& place = entry->second;
        if (place.id == 0) place.id = BUNRAKU_TRY(place_id(writer.db(), entry->first, place));
        BUNRAKU_ASSERT(place.id != 0);
        writer.places.put(entry->first, place.id);
    }
    return {};
}

Result<void> store_source_locations(Writer& writer, std::int64_t node,
                                    const std::vector<Writer::ResourceRef>& refs,
                                    const Digest& hash) {
    std::vector<std::int64_t> places;
    places.reserve(refs.size());
    for (const auto& ref : refs) places.push_back(ref.place);
    return note(writer.db(), node, bytes_of(hash), std::move(places));
}

Result<std::size_t> fill_source_locations(Database& db, std::size_t limit) {
    std::vector<std::pair<std::int64_t, std::string>> nodes;
    {
        Statement s = BUNRAKU_TRY(
            db.prepare_once("SELECT cat.certname_id, cat.hash FROM catalogs cat"
                            " LEFT JOIN catalog_places cp ON cp.certname_id = cat.certname_id"
                            " WHERE cp.hash IS NULL OR cp.hash <> cat.hash LIMIT ?"));
        s.bind(limit);
        while (BUNRAKU_TRY(s.step())) nodes.emplace_back(s.integer(0), s.blob(1));
    }
    std::unordered_map<Digest, std::int64_t, DigestHash> known;
    for (const auto& [node, hash] : nodes) {
        std::vector<Digest> declared;
        SourceLocations fresh;
        {
            Statement s = BUNRAKU_TRY(
                db.prepare("SELECT r.file, r.line FROM catalog_resources l JOIN resources r"
                           " ON r.id = l.resource_id WHERE l.certname_id = ?"));
            s.bind(node);
            while (BUNRAKU_TRY(s.step())) {
                Place place;
                if (!s.is_null(0)) place.file = s.text(0);
                if (!s.is_null(1)) place.line = s.integer(1);
                const Digest digest = declared.emplace_back(place.hash());
                if (!known.contains(digest)) fresh.emplace(digest, std::move(place));
            }
        }
        for (const auto& [digest, place] : fresh) {
            known[digest] = BUNRAKU_TRY(place_id(db, digest, place));
        }
        std::vector<std::int64_t> places;
        BUNRAKU_ASSERT(fresh.size() <= declared.size());
        places.reserve(declared.size());
        for (const Digest& digest : declared) places.push_back(known[digest]);
        BUNRAKU_TRY_VOID(note(db, node, hash, std::move(places)));
    }
    return nodes.size();
}

Result<std::vector<std::int64_t>> unused_source_locations(Database& db, std::size_t limit,
                                                          std::size_t page) {
    BUNRAKU_ASSERT(page > 0);
    std::unordered_set<std::int64_t> used;
    std::int64_t last = INT64_MIN;
    for (bool more = true; more;) {
        Statement s = BUNRAKU_TRY(
            db.prepare("SELECT certname_id, places FROM catalog_places WHERE certname_id > ?"
                       " ORDER BY certname_id LIMIT ?"));
        s.bind(last).bind(page);
        std::size_t rows = 0;
        for (; BUNRAKU_TRY(s.step()); ++rows) {
            last = s.integer(0);
            for (std::int64_t place : unpack_numbers(s.blob(1))) used.insert(place);
        }
        more = rows == page;
    }
    std::vector<std::int64_t> out;
    Statement s = BUNRAKU_TRY(db.prepare("SELECT id FROM places ORDER BY id"));
    while (out.size() < limit && BUNRAKU_TRY(s.step())) {
        if (!used.contains(s.integer(0))) out.push_back(s.integer(0));
    }
    return out;
}

Result<std::vector<std::int64_t>> still_unused_source_locations(
    Database& db, const std::vector<std::int64_t>& places, std::int64_t generation) {
    std::unordered_set<std::int64_t> used;
    {
        Statement s =
            BUNRAKU_TRY(db.prepare("SELECT places FROM catalog_places WHERE generation >= ?"));
        s.bind(generation);
        while (BUNRAKU_TRY(s.step())) {
            for (std::int64_t place : unpack_numbers(s.blob(0))) used.insert(place);
        }
    }
    std::vector<std::int64_t> out;
    std::ranges::copy_if(places, std::back_inserter(out),
                         [&](std::int64_t place) { return !used.contains(place); });
    return out;
}

}  // namespace bunraku::store
