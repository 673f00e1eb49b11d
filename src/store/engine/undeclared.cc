// SPDX-License-Identifier: Apache-2.0
// Compares the resources in which two catalogs differ. The cost is that of the difference; nothing
// is written unless a resource disappears or returns.
#include "store/engine/undeclared.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <tuple>

#include "core/base/arena.h"
#include "core/base/assert.h"
#include "core/base/diagnostic.h"
#include "core/base/text.h"
#include "core/value/rich_data.h"
#include "resources/catalog/relations.h"
#include "resources/restype/spec.h"
#include "store/db/bulk.h"
#include "store/db/packed.h"
#include "store/engine/undeclared_removal.h"

namespace bunraku::store {

namespace {

using IdList = std::vector<std::int64_t>;

/// Types that leave nothing behind of which the type knows.
constexpr std::string_view kLeavesNothing[] = {"Anchor", "Class",  "Exec",      "Filebucket",
                                               "Node",   "Notify", "Resources", "Schedule",
                                               "Stage",  "Tidy",   "Whit"};

/// One resource of the previous or of the new catalog.
struct Item {
    std::int64_t id = 0, parameters_id = 0;
    std::string type, title;
    bool exported = false;
    // Only of the resources that may have disappeared or returned:
    std::string name, parameters;
    Digest key{};
    std::optional<std::string> file;
    std::optional<std::int64_t> line;
    bool absent = false;  ///< declared with `ensure => absent`
};

bool by_reference(const Item& a, const Item& b) {
    return std::tie(a.type, a.title) < std::tie(b.type, b.title);
}

/// Calls `each` with every row of a query of resources (`r`) with these ids.
template <class Each>
Result<void> for_resources(Database& db, std::string_view select, const IdList& ids,
                           const Each& each) {
    if (ids.empty()) return {};
    if (db.postgresql()) {
        Statement s =
            BUNRAKU_TRY(db.prepare(fmt::format("{} WHERE r.id = ANY (?::bigint[])", select)));
        s.bind_array(ids);
        while (BUNRAKU_TRY(s.step())) each(s);
        return {};
    }
    Statement s = BUNRAKU_TRY(db.prepare(fmt::format("{} WHERE r.id = ?", select)));
    for (std::int64_t id : ids) {
        s.bind(id);
        while (BUNRAKU_TRY(s.step())) each(s);
        s.reset();
    }
    return {};
}

/// Reads the references of the resources that may remain on a machine, sorted.
Result<std::vector<Item>> read_references(Database& db, IdList ids, const IdList& more) {
    ids.insert(ids.end(), more.begin(), more.end());
    std::vector<Item> out;
    BUNRAKU_TRY_VOID(for_resources(
        db, "SELECT r.id, r.parameters_id, r.type, r.title, r.exported FROM resources r", ids,
        [&](Statement& s) {
            if (!may_remain(s.text(2))) return;
            Item item;
            item.id = s.integer(0);
            item.parameters_id = s.integer(1);
            item.type = s.text(2);
            item.title = s.text(3);
            item.exported = s.boolean(4);
            out.push_back(std::move(item));
        }));
    std::sort(out.begin(), out.end(), by_reference);
    return out;
}

/// Removes the resources that both catalogs declare with the same parameters. Line numbers and tags
/// do not matter here.
void drop_equal(std::vector<Item>& before, std::vector<Item>& after) {
    std::set<std::pair<std::string, std::string>> equal;
    for (auto b = before.begin(), a = after.begin(); b != before.end() && a != after.end();) {
        if (by_reference(*b, *a)) {
            ++b;
        } else if (by_reference(*a, *b)) {
            ++a;
        } else {
            if (b->parameters_id == a->parameters_id) equal.emplace(b->type, b->title);
            ++b;
            ++a;
        }
    }
    const auto is_equal = [&](const Item& i) { return equal.contains({i.type, i.title}); };
    std::erase_if(before, is_equal);
    std::erase_if(after, is_equal);
}

/// Returns the values of the name variables, separated by ", "; the title if they are unknown.
std::string name_of(const Item& item, const std::vector<std::pair<std::string, value::Value>>& p) {
    std::string type = item.type;
    base::make_lower(type);
    std::vector<std::string> parts;
    if (const auto* spec = restype::find_type(type)) {
        try {
            parts = restype::uniqueness_key(*spec, item.title, p);
        } catch (const base::PuppetError&) {
            parts.clear();  // no title pattern matches
        }
    } else {
        const auto named = std::ranges::find(p, "name", [](const auto& e) { return e.first; });
        if (named != p.end() && named->second.is_string()) {
            parts.emplace_back(named->second.as_string());
        }
    }
    if (type == "file") {
        for (std::string& path : parts) {
            while (path.size() > 1 && path.ends_with('/')) path.pop_back();
        }
    }
    std::erase_if(parts, [](const std::string& s) { return s.empty(); });
    std::string out = fmt::format("{}", fmt::join(parts, ", "));
    return out.empty() || out.find('\0') != std::string::npos ? item.title : out;
}

void read_parameters(Item& item, std::string_view json) {
    base::Arena arena;
    std::vector<std::pair<std::string, value::Value>> parameters;
    if (const auto data = value::parse_json(arena, json); data && data->is_hash()) {
        for (const value::Entry& e : data->as_hash()) {
            parameters.emplace_back(e.key.as_string(), e.value);
        }
    }
    for (const auto& [name, v] : parameters) {
        if (name != "ensure" || !v.is_string()) continue;
        item.absent = v.as_string() == "absent" || v.as_string() == "purged";
    }
    item.parameters = json;
    item.name = name_of(item, parameters);
    item.key = Sha1().part(item.type).part(item.name).digest();
}

/// Reads the names and locations of the items of both catalogs.
Result<void> read_details(Database& db, std::vector<Item>& before, std::vector<Item>& after) {
    IdList ids;
    std::map<std::int64_t, Item*> by_id;
    for (std::vector<Item>* items : {&before, &after}) {
        for (Item& item : *items) {
            ids.push_back(item.id);
            by_id.emplace(item.id, &item);
        }
    }
    return for_resources(db,
                         fmt::format("SELECT r.id, r.file, r.line, {} FROM resources r"
                                     " JOIN parameters p ON p.id = r.parameters_id",
                                     Dialect(db.backend()).json_text("p.parameters")),
                         ids, [&](Statement& s) {
                             Item& item = *by_id.at(s.integer(0));
                             if (!s.is_null(1)) item.file = s.text(1);
                             if (!s.is_null(2)) item.line = s.integer(2);
                             read_parameters(item, s.text(3));
                         });
}

using Items = std::map<Digest, const Item*>;

Items by_key(const std::vector<Item>& items) {
    Items out;
    for (const Item& item : items) out.emplace(item.key, &item);
    return out;
}

/// A row of `undeclared` that is not closed.
struct OpenRow {
    std::string type;
    bool created = false;
};

class Recorder {
public:
    Recorder(Writer& writer, std::int64_t node, const CatalogRow& row)
        : db_(writer.db()), node_(node), row_(row) {}

    Result<void> run(const IdList& added, const IdList& removed) {
        if (!added.empty()) BUNRAKU_TRY_VOID(read_open());
        if (removed.empty() && open_.empty()) return {};
        for (Item& item : BUNRAKU_TRY(read_references(db_, removed, added))) {
            const bool gone = std::ranges::binary_search(removed, item.id);
            if (!gone || !item.exported) (gone ? before_ : after_).push_back(std::move(item));
        }
        if (before_.empty() && open_.empty()) return {};
        drop_equal(before_, after_);
        drop_other_types();
        if (before_.empty() && (after_.empty() || open_.empty())) return {};
        BUNRAKU_TRY_VOID(read_details(db_, before_, after_));
        return record();
    }

private:
    Result<void> read_open() {
        Statement s = BUNRAKU_TRY(db_.prepare(
            "SELECT key, type, created FROM undeclared WHERE certname_id = ? AND closed IS NULL"));
        s.bind(node_);
        while (BUNRAKU_TRY(s.step())) {
            open_.emplace(digest_from(s.blob(0)), OpenRow{std::string(s.text(1)), s.boolean(2)});
        }
        return {};
    }

    /// Drops new resources of types of which nothing has disappeared.
    void drop_other_types() {
        std::set<std::string_view> types;
        for (const Item& item : before_) types.insert(item.type);
        for (const auto& [key, row] : open_) types.insert(row.type);
        std::erase_if(after_, [&](const Item& item) { return !types.contains(item.type); });
    }

    Result<void> record() {
        const Items before = by_key(before_), after = by_key(after_);
        std::vector<const Item*> lost, returned;
        std::vector<std::pair<const Item*, const Item*>> retitled;
        for (const auto& [key, item] : before) {
            const auto now = after.find(key);
            if (now == after.end()) {
                if (!item->absent) lost.push_back(item);
            } else if (now->second->title != item->title) {
                retitled.emplace_back(item, now->second);
            }
        }
        for (const auto& [key, item] : after) {
            if (open_.contains(key)) returned.push_back(item);
        }
        BUNRAKU_TRY_VOID(drop_containers(lost));
        if (lost.empty() && returned.empty() && retitled.empty()) return {};
        CreatedResources created = BUNRAKU_TRY(CreatedResources::read(db_, node_));
        for (const auto& [was, is] : retitled) {
            if (created.remove(was->type, was->title)) created.add(is->type, is->title);
        }
        BUNRAKU_TRY_VOID(close(returned, created));
        BUNRAKU_TRY_VOID(insert(lost, created));
        return created.save(db_);
    }

    /// Drops resources of unknown types that contained others, because these are defined types.
    Result<void> drop_containers(std::vector<const Item*>& lost) {
        const auto unknown = [](const Item* item) {
            std::string type = item->type;
            base::make_lower(type);
            return !restype::find_type(type) && !restype::find_module_type(type);
        };
        if (std::ranges::none_of(lost, unknown)) return {};
        const std::set<std::int64_t> sources = BUNRAKU_TRY(containers());
        std::erase_if(
            lost, [&](const Item* item) { return sources.contains(item->id) && unknown(item); });
        return {};
    }

    /// Returns the ids of the resources of the previous catalog that contain others.
    Result<std::set<std::int64_t>> containers() {
        constexpr auto kContains = static_cast<std::int64_t>(catalog::Relationship::Contains);
        std::set<std::int64_t> out;
        if (db_.postgresql()) {
            Statement s = BUNRAKU_TRY(db_.prepare(
                "SELECT DISTINCT e.source FROM catalogs c"
                " CROSS JOIN LATERAL unnest(c.edge_sources, c.edge_kinds) AS e (source, kind)"
                " WHERE c.certname_id = ? AND e.kind = ?"));
            s.bind(node_).bind(kContains);
            while (BUNRAKU_TRY(s.step())) out.insert(s.integer(0));
            return out;
        }
        Statement s = BUNRAKU_TRY(db_.prepare("SELECT edges FROM catalogs WHERE certname_id = ?"));
        s.bind(node_);
        if (!BUNRAKU_TRY(s.step())) return out;
        for (const PackedEdge& e : unpack_edges(s.blob(0))) {
            if (e.kind == kContains) out.insert(e.source);
        }
        return out;
    }

    Result<void> close(const std::vector<const Item*>& returned, CreatedResources& created) {
        if (returned.empty()) return {};
        Statement s = BUNRAKU_TRY(
            db_.prepare("UPDATE undeclared SET closed = ? WHERE certname_id = ? AND key = ?"));
        for (const Item* item : returned) {
            if (open_.at(item->key).created) created.add(item->type, item->title);
            s.bind(row_.producer_timestamp).bind(node_).bind_blob(bytes_of(item->key));
            BUNRAKU_TRY_VOID(s.run_later());
        }
        return {};
    }

    Result<void> insert(const std::vector<const Item*>& lost, CreatedResources& created) {
        if (lost.empty()) return {};
        using T = Bulk::Type;
        Bulk rows(db_, "undeclared",
                  {{"certname_id", T::Integer},
                   {"key", T::Blob},
                   {"type", T::Text},
                   {"title", T::Text},
                   {"name", T::Text},
                   {"since", T::Integer},
                   {"environment", T::Text},
                   {"version", T::Text},
                   {"code_id", T::Text},
                   {"file", T::Text},
                   {"line", T::Integer},
                   {"created", T::Integer},
                   {"removal", T::Text}},
                  "ON CONFLICT (certname_id, key) DO UPDATE SET title = excluded.title,"
                  " since = excluded.since, closed = NULL, removed = 0, environment = "
                  "excluded.environment,"
                  " version = excluded.version, code_id = excluded.code_id, file = excluded.file,"
                  " line = excluded.line, created = excluded.created, removal = excluded.removal");
        for (const Item* item : lost) {
            rows.integer(node_).blob(bytes_of(item->key)).text(item->type).text(item->title);
            rows.text(item->name).integer(row_.producer_timestamp).optional(row_.environment);
            rows.text(row_.version).optional(row_.code_id.value_or(""));
            rows.optional(item->file.value_or(""));
            item->line ? rows.integer(*item->line) : rows.null();
            const bool ours = created.remove(item->type, item->title);
            rows.integer(ours).optional(
                ours ? removal_json(item->type, item->title, item->parameters) : "");
            BUNRAKU_TRY_VOID(rows.end_row());
        }
        BUNRAKU_TRY_VOID(rows.flush());
        return limit_rows();
    }

    /// Removes the node's oldest rows beyond the limit, closed ones first.
    Result<void> limit_rows() {
        std::int64_t count = 0;
        {
            Statement s =
                BUNRAKU_TRY(db_.prepare("SELECT count(*) FROM undeclared WHERE certname_id = ?"));
            s.bind(node_);
            if (BUNRAKU_TRY(s.step())) count = s.integer(0);
        }
        const auto most = static_cast<std::int64_t>(kMostUndeclared);
        if (count <= most) return {};
        Statement s = BUNRAKU_TRY(db_.prepare(
            "DELETE FROM undeclared WHERE certname_id = ?1 AND key IN (SELECT u.key"
            " FROM undeclared u WHERE u.certname_id = ?1 ORDER BY CASE WHEN u.closed IS NULL"
            " THEN 1 ELSE 0 END, u.since, u.key LIMIT ?2)"));
        s.bind(node_).bind(count - most);
        return s.run_later();
    }

    Database& db_;
    std::int64_t node_;
    const CatalogRow& row_;
    std::map<Digest, OpenRow> open_;
    std::vector<Item> before_, after_;
};

}  // namespace

// See also Recorder::containers().
bool may_remain(std::string_view type) {
    return type.find("::") == std::string_view::npos &&
           std::ranges::find(kLeavesNothing, type) == std::end(kLeavesNothing);
}

Result<void> record_undeclared(Writer& writer, std::int64_t node, const CatalogRow& row,
                               const IdList& added, const IdList& removed) {
    BUNRAKU_ASSERT(node != 0);
    if (added.empty() && removed.empty()) return {};
    return Recorder(writer, node, row).run(added, removed);
}

Result<void> record_removed(Database& db, std::int64_t node, std::int64_t time,
                            std::span<const ExistenceChange> changes) {
    BUNRAKU_ASSERT(node != 0);
    for (const ExistenceChange& c : changes) {
        if (c.change != Existence::Removed) continue;
        // The title of a resource that is not in the catalog is its name.
        Statement s = BUNRAKU_TRY(
            db.prepare("UPDATE undeclared SET closed = ?1, removed = 1 WHERE certname_id = ?2"
                       " AND closed IS NULL AND since < ?1 AND type = ?3 AND ?4 IN (title, name)"));
        s.bind(time).bind(node).bind(c.type).bind(c.title);
        BUNRAKU_TRY_VOID(s.run_later());
    }
    return {};
}

Result<std::size_t> purge_undeclared(Database& db, std::int64_t before, std::size_t limit) {
    Statement s = BUNRAKU_TRY(
        db.prepare("DELETE FROM undeclared WHERE (certname_id, key) IN (SELECT u.certname_id, u.key"
                   " FROM undeclared u WHERE u.closed < ? LIMIT ?)"));
    s.bind(before).bind(limit);
    BUNRAKU_TRY_VOID(s.run());
    return static_cast<std::size_t>(db.changes());
}

}  // namespace bunraku::store
