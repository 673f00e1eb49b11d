// SPDX-License-Identifier: Apache-2.0
#include "store/db/kind_sets.h"

#include <algorithm>
#include <fmt/format.h>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "core/base/assert.h"
#include "store/db/bulk.h"
#include "store/db/hashed_sets.h"

namespace bunraku::store {

namespace {

using Kinds = std::vector<std::pair<Writer::Kind, std::int64_t>>;

Digest kinds_hash(Kinds& kinds) {
    std::sort(kinds.begin(), kinds.end(), [](const auto& a, const auto& b) {
        return std::tie(a.first.type, a.first.exported, a.first.title) <
               std::tie(b.first.type, b.first.exported, b.first.title);
    });
    Sha1 sum;
    for (const auto& [kind, count] : kinds) {
        sum.part(kind.type).part(kind.title).number(kind.exported).number(count);
    }
    return sum.digest();
}

Result<std::int64_t> make_kind_set(Database& db, const Digest& hash, const Kinds& kinds) {
    MadeSet set = BUNRAKU_TRY(make_set(db, "kind_sets", hash));
    if (!set.fresh) return set.id;
    Bulk members(db, "kind_set_members",
                 {{"kind_set_id", Bulk::Type::Integer},
                  {"type", Bulk::Type::Text},
                  {"title", Bulk::Type::Text},
                  {"exported", Bulk::Type::Integer},
                  {"resources", Bulk::Type::Integer}});
    for (const auto& [kind, count] : kinds) {
        members.integer(set.id).text(kind.type).text(kind.title);
        members.integer(kind.exported).integer(count);
        BUNRAKU_TRY_VOID(members.end_row());
    }
    BUNRAKU_TRY_VOID(members.flush());
    return set.id;
}

}  // namespace

Result<std::int64_t> kind_set(Writer& writer, const std::vector<Writer::ResourceRef>& refs) {
    std::unordered_map<std::uint32_t, std::int64_t> counts;
    for (const auto& ref : refs) ++counts[ref.kind];
    Kinds kinds;
    kinds.reserve(counts.size());
    for (const auto& [number, count] : counts) kinds.emplace_back(writer.kind(number), count);
    BUNRAKU_ASSERT(kinds.size() == counts.size() && kinds.size() <= refs.size());
    Digest hash = kinds_hash(kinds);
    if (const std::int64_t* id = writer.kind_sets.find(hash)) return *id;
    std::int64_t id = BUNRAKU_TRY(find_set(writer.db(), "kind_sets", hash));
    if (id == 0) id = BUNRAKU_TRY(make_kind_set(writer.db(), hash, kinds));
    if (id == 0) return base::failure("A set of kinds of resources could not be stored");
    writer.kind_sets.put(hash, id);
    return id;
}

Result<void> fill_kind_sets(Database& db) {
    std::vector<std::int64_t> nodes;
    {
        Statement s =
            BUNRAKU_TRY(db.prepare_once("SELECT certname_id FROM catalogs WHERE kind_set_id = 0"));
        while (BUNRAKU_TRY(s.step())) nodes.push_back(s.integer(0));
    }
    std::unordered_map<Digest, std::int64_t, DigestHash> known;
    for (std::int64_t node : nodes) {
        Kinds kinds;
        {
            Statement s = BUNRAKU_TRY(db.prepare(
                fmt::format("SELECT r.type, CASE WHEN r.type = '{}' THEN r.title ELSE '' END,"
                            " r.exported, count(*) FROM catalog_resources l JOIN resources r"
                            " ON r.id = l.resource_id WHERE l.certname_id = ? GROUP BY 1, 2, 3",
                            kTitledType)));
            s.bind(node);
            while (BUNRAKU_TRY(s.step())) {
                kinds.emplace_back(
                    Writer::Kind{std::string(s.text(0)), std::string(s.text(1)), s.integer(2) != 0},
                    s.integer(3));
            }
        }
        Digest hash = kinds_hash(kinds);
        std::int64_t& id = known[hash];
        if (id == 0) id = BUNRAKU_TRY(make_kind_set(db, hash, kinds));
        Statement s =
            BUNRAKU_TRY(db.prepare("UPDATE catalogs SET kind_set_id = ? WHERE certname_id = ?"));
        s.bind(id).bind(node);
        BUNRAKU_TRY_VOID(s.run());
    }
    return {};
}

}  // namespace bunraku::store
