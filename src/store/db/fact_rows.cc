// SPDX-License-Identifier: Apache-2.0
#include "store/db/fact_rows.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <unordered_map>
#include <unordered_set>

#include "core/base/assert.h"
#include "core/codec/json_cursor.h"
#include "core/codec/json_text.h"
#include "resources/catalog/json_text.h"
#include "store/db/bulk.h"
#include "store/query/search_keys.h"

namespace bunraku::store {

namespace {

using Ids = std::unordered_map<Digest, std::int64_t, DigestHash>;

/// Appends a path component as PuppetDB writes it: names that look like indexes are quoted, and the
/// delimiter is escaped.
void append_component(std::string& out, std::string_view key) {
    bool digits = !key.empty() &&
                  std::all_of(key.begin(), key.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (digits) {
        out += '"';
        out += key;
        out += '"';
        return;
    }
    for (std::size_t at = 0;;) {
        std::size_t next = key.find("#~", at);
        out += key.substr(at, next - at);
        if (next == std::string_view::npos) return;
        out += "\\#~";
        at = next + 2;
    }
}

std::string_view leaf_type(std::string_view value) {
    switch (codec::kind_of_json(value)) {
        case codec::JsonCursor::Kind::String: return "string";
        case codec::JsonCursor::Kind::Boolean: return "boolean";
        case codec::JsonCursor::Kind::Null: return "null";
        case codec::JsonCursor::Kind::Number:
            return value.find_first_of(".eE") == std::string_view::npos ? "integer" : "float";
        default: return "json";
    }
}

struct Walk {
    const std::function<void(const FactLeaf&)>& each;
    std::string path, array;

    void value(codec::JsonCursor& json, int depth) {
        BUNRAKU_ASSERT(depth >= 0 && !path.empty() && array.starts_with('['));
        codec::JsonCursor::Kind kind = json.kind();
        if (kind == codec::JsonCursor::Kind::Object) {
            json.enter_object();
            std::string_view key;
            while (json.next_key(&key)) {
                std::size_t path_end = path.size(), array_end = array.size();
                path += "#~";
                append_component(path, key);
                array += ',';
                codec::append_json_string(array, key);
                value(json, depth + 1);
                path.resize(path_end);
                array.resize(array_end);
            }
        } else if (kind == codec::JsonCursor::Kind::Array) {
            json.enter_array();
            for (std::size_t i = 0; json.next_element(); ++i) {
                std::size_t path_end = path.size(), array_end = array.size();
                path += fmt::format("#~{}", i);
                array += fmt::format(",{}", i);
                value(json, depth + 1);
                path.resize(path_end);
                array.resize(array_end);
            }
        } else {
            std::string_view text = json.skip();
            std::size_t end = array.size();
            array += ']';
            each({path, array, depth, leaf_type(text), text});
            array.resize(end);
        }
    }
};

Digest path_key(std::string_view type, std::string_view path) {
    return Sha1().part(type).part(path).digest();
}

Digest fact_key(std::string_view name, std::string_view match) {
    return Sha1().part(name).part(match).digest();
}

struct Wanted {
    std::string_view a, b;  ///< values of the two columns
    Digest key;
};

/// Adds the ids of the pairs (a, b) that exist in `table` to `out`.
Result<void> find_pairs(Database& db, std::string_view table, std::string_view a,
                        std::string_view b, const std::vector<Wanted>& wanted, Ids& out) {
    if (wanted.empty()) return {};
    if (db.postgresql()) {
        std::vector<std::string_view> as, bs;
        std::vector<std::int64_t> numbers;
        for (const Wanted& w : wanted) {
            as.push_back(w.a);
            bs.push_back(w.b);
            numbers.push_back(static_cast<std::int64_t>(numbers.size()));
        }
        Statement s = BUNRAKU_TRY(
            db.prepare(fmt::format("SELECT w.n, t.id FROM unnest(?::text[], ?::text[], ?::bigint[])"
                                   " AS w (a, b, n) JOIN {} t ON t.{} = w.a AND t.{} = w.b",
                                   table, a, b)));
        s.bind_array(as).bind_array(bs).bind_array(numbers);
        while (BUNRAKU_TRY(s.step())) {
            out[wanted[static_cast<std::size_t>(s.integer(0))].key] = s.integer(1);
        }
        return {};
    }
    Statement s = BUNRAKU_TRY(
        db.prepare(fmt::format("SELECT id FROM {} WHERE {} = ? AND {} = ?", table, a, b)));
    for (const Wanted& w : wanted) {
        s.bind(w.a).bind(w.b);
        if (BUNRAKU_TRY(s.step())) out[w.key] = s.integer(0);
        s.reset();
    }
    return {};
}

/// A leaf that owns its text and waits for the id of its path.
struct Pending {
    std::size_t fact;
    Digest path;
    std::string value;
};
struct NewPath {
    std::string path, array, type, name;
    int depth;
    Digest key;
};

/// Stores the paths that do not exist yet, and collects the ids of all of them.
Result<void> store_paths(Writer& writer, std::vector<NewPath>& paths, Ids& ids) {
    if (paths.empty()) return {};
    Database& db = writer.db();
    std::sort(paths.begin(), paths.end(), [](const auto& x, const auto& y) {
        return std::tie(x.path, x.type) < std::tie(y.path, y.type);
    });
    std::vector<Wanted> wanted;
    for (const NewPath& p : paths) wanted.push_back({p.path, p.type, p.key});
    BUNRAKU_TRY_VOID(find_pairs(db, "fact_paths", "path", "type", wanted, ids));
    Bulk rows(db, "fact_paths",
              {{"path", Bulk::Type::Text},
               {"path_array", Bulk::Type::Json},
               {"name", Bulk::Type::Text},
               {"depth", Bulk::Type::Integer},
               {"type", Bulk::Type::Text}},
              "ON CONFLICT (path, type) DO NOTHING");
    std::vector<Wanted> made;
    for (const NewPath& p : paths) {
        if (ids.contains(p.key)) continue;
        rows.text(p.path).text(p.array).text(p.name).integer(p.depth).text(p.type);
        BUNRAKU_TRY_VOID(rows.end_row());
        made.push_back({p.path, p.type, p.key});
        if (!db.postgresql()) ids[p.key] = rows.last_id();
    }
    BUNRAKU_TRY_VOID(rows.flush());
    if (db.postgresql()) {
        BUNRAKU_TRY_VOID(find_pairs(db, "fact_paths", "path", "type", made, ids));
    }
    for (const NewPath& p : paths) writer.paths.put(p.key, ids[p.key]);
    return {};
}

}  // namespace

void FactRow::hash() {
    match = query::match_of(value);
    key = fact_key(name, match);
}

std::optional<double> number_of(std::string_view canonical) {
    if (codec::kind_of_json(canonical) != codec::JsonCursor::Kind::Number) return std::nullopt;
    double out = 0;
    auto [rest, error] =
        std::from_chars(canonical.data(), canonical.data() + canonical.size(), out);
    if (error != std::errc()) return std::nullopt;
    return out;
}

void visit_leaves(const FactRow& fact, const std::function<void(const FactLeaf&)>& each) {
    Walk walk{each, {}, "["};
    append_component(walk.path, fact.name);
    codec::append_json_string(walk.array, fact.name);
    const std::size_t path = walk.path.size(), array = walk.array.size();
    codec::JsonCursor json(fact.value);
    walk.value(json, 0);
    BUNRAKU_ASSERT(walk.path.size() == path && walk.array.size() == array);
}

namespace {

/// Stores the facts `missing`, which are indexes of `rows`, and adds their ids to `ids`. Removes
/// facts from `missing` that another writer has stored meanwhile, together with their leaves.
Result<void> insert_facts(Database& db, std::span<const FactRow> rows,
                          std::vector<std::size_t>& missing, Ids& ids) {
    Bulk facts(db, "facts",
               {{"name", Bulk::Type::Text},
                {"match", Bulk::Type::Text},
                {"value", Bulk::Type::Json},
                {"number", Bulk::Type::Real}},
               db.postgresql() ? "ON CONFLICT (name, match) DO NOTHING RETURNING name, match, id"
                               : "ON CONFLICT (name, match) DO NOTHING");
    facts.returned([&](Statement& s) {
        std::string name(s.text(0)), match(s.text(1));
        ids[fact_key(name, match)] = s.integer(2);
    });
    std::vector<Wanted> wanted;
    for (std::size_t i : missing) {
        const FactRow& r = rows[i];
        facts.text(r.name).text(r.match).text(r.value);
        auto number = number_of(r.value);
        number ? facts.real(*number) : facts.null();
        BUNRAKU_TRY_VOID(facts.end_row());
        if (!db.postgresql()) ids[r.key] = facts.last_id();
        wanted.push_back({r.name, r.match, r.key});
    }
    BUNRAKU_TRY_VOID(facts.flush());
    std::erase_if(wanted, [&](const Wanted& w) { return ids.contains(w.key); });
    if (wanted.empty()) return {};
    BUNRAKU_TRY_VOID(find_pairs(db, "facts", "name", "match", wanted, ids));
    std::unordered_set<Digest, DigestHash> theirs;
    for (const Wanted& w : wanted) theirs.insert(w.key);
    std::erase_if(missing, [&](std::size_t i) { return theirs.contains(rows[i].key); });
    return {};
}

/// Stores the leaves of the facts `added`, which are indexes of `rows`. `ids` has their ids.
Result<void> insert_leaves(Writer& writer, std::span<const FactRow> rows,
                           const std::vector<std::size_t>& added, Ids& ids) {
    std::vector<Pending> leaves;
    std::vector<NewPath> paths;
    Ids path_ids;
    std::unordered_set<Digest, DigestHash> of_fact;
    for (std::size_t i : added) {
        of_fact.clear();
        visit_leaves(rows[i], [&](const FactLeaf& leaf) {
            Digest key = path_key(leaf.type, leaf.path);
            // Unusual names ("1" with and without quotes) may give the same path twice.
            if (!of_fact.insert(key).second) return;
            leaves.push_back({i, key, std::string(leaf.value)});
            if (const auto* known = writer.paths.find(key)) {
                path_ids[key] = *known;
            } else if (path_ids.emplace(key, 0).second) {
                paths.push_back({std::string(leaf.path), std::string(leaf.array),
                                 std::string(leaf.type), rows[i].name, leaf.depth, key});
            }
        });
    }
    Ids made;
    BUNRAKU_TRY_VOID(store_paths(writer, paths, made));
    for (const auto& [key, id] : made) path_ids[key] = id;
    Bulk bulk(writer.db(), "fact_leaves",
              {{"fact_id", Bulk::Type::Integer},
               {"path_id", Bulk::Type::Integer},
               {"match", Bulk::Type::Text},
               {"value", Bulk::Type::Json},
               {"number", Bulk::Type::Real}});
    for (const Pending& leaf : leaves) {
        BUNRAKU_ASSERT(leaf.fact < rows.size() && path_ids.contains(leaf.path));
        bulk.integer(ids[rows[leaf.fact].key]).integer(path_ids[leaf.path]);
        bulk.text(query::match_of(leaf.value)).text(leaf.value);
        auto number = number_of(leaf.value);
        number ? bulk.real(*number) : bulk.null();
        BUNRAKU_TRY_VOID(bulk.end_row());
    }
    return bulk.flush();
}

}  // namespace

Result<std::vector<std::int64_t>> store_facts(Writer& writer, std::span<const FactRow> rows) {
    std::vector<std::int64_t> out(rows.size(), 0);
    std::vector<std::size_t> unknown;
    for (std::size_t i = 0; i < rows.size(); ++i) {
        if (const auto* id = writer.facts.find(rows[i].key)) {
            out[i] = *id;
        } else {
            unknown.push_back(i);
        }
    }
    if (unknown.empty()) return out;
    std::sort(unknown.begin(), unknown.end(), [&](auto a, auto b) {
        return std::tie(rows[a].name, rows[a].match) < std::tie(rows[b].name, rows[b].match);
    });
    Database& db = writer.db();
    Ids ids;
    std::vector<Wanted> wanted;
    for (std::size_t i : unknown) wanted.push_back({rows[i].name, rows[i].match, rows[i].key});
    BUNRAKU_TRY_VOID(find_pairs(db, "facts", "name", "match", wanted, ids));
    std::vector<std::size_t> missing;
    for (std::size_t i : unknown) {
        if (!ids.contains(rows[i].key)) missing.push_back(i);
    }
    BUNRAKU_ASSERT(missing.size() <= unknown.size() && unknown.size() <= rows.size());
    if (!missing.empty()) {
        BUNRAKU_TRY_VOID(insert_facts(db, rows, missing, ids));
        BUNRAKU_TRY_VOID(insert_leaves(writer, rows, missing, ids));
    }
    for (std::size_t i : unknown) {
        out[i] = ids[rows[i].key];
        if (out[i] == 0) return base::failure("A fact could not be stored");
        writer.facts.put(rows[i].key, out[i]);
    }
    BUNRAKU_ASSERT(std::ranges::find(out, 0) == out.end());
    return out;
}

}  // namespace bunraku::store
