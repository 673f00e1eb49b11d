// SPDX-License-Identifier: Apache-2.0
#include "store/db/fact_names.h"

#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/assert.h"
#include "store/db/bulk.h"
#include "store/db/hashed_sets.h"
#include "store/db/support.h"

namespace bunraku::store {

namespace {

Digest name_set_hash(const std::vector<std::string_view>& names) {
    Sha1 sum;
    for (std::string_view name : names) sum.part(name);
    return sum.digest();
}

/// Creates the set unless another writer has just created it.
Result<std::int64_t> make_name_set(Database& db, const Digest& hash,
                                   const std::vector<std::string_view>& names) {
    MadeSet set = BUNRAKU_TRY(make_set(db, "fact_name_sets", hash));
    if (!set.fresh) return set.id;
    Bulk members(db, "fact_name_set_members",
                 {{"name_set_id", Bulk::Type::Integer}, {"name", Bulk::Type::Text}});
    for (std::string_view name : names) {
        members.integer(set.id).text(name);
        BUNRAKU_TRY_VOID(members.end_row());
    }
    BUNRAKU_TRY_VOID(members.flush());
    return set.id;
}

}  // namespace

Result<std::int64_t> fact_name_set(Writer& writer, std::span<const FactRow> facts) {
    BUNRAKU_ASSERT(std::ranges::is_sorted(facts, {}, &FactRow::name));
    std::vector<std::string_view> names;
    names.reserve(facts.size());
    for (const FactRow& fact : facts) names.push_back(fact.name);
    Digest hash = name_set_hash(names);
    if (const std::int64_t* id = writer.fact_name_sets.find(hash)) return *id;
    std::int64_t id = BUNRAKU_TRY(find_set(writer.db(), "fact_name_sets", hash));
    if (id == 0) id = BUNRAKU_TRY(make_name_set(writer.db(), hash, names));
    if (id == 0) return base::failure("A set of fact names could not be stored");
    writer.fact_name_sets.put(hash, id);
    return id;
}

Result<void> fill_fact_name_sets(Database& db) {
    std::vector<std::int64_t> nodes;
    {
        Statement s = BUNRAKU_TRY(db.prepare_once("SELECT certname_id FROM factsets"));
        while (BUNRAKU_TRY(s.step())) nodes.push_back(s.integer(0));
    }
    std::unordered_map<Digest, std::int64_t, DigestHash> known;
    for (std::int64_t node : nodes) {
        std::vector<std::string> kept;
        {
            Statement s = BUNRAKU_TRY(
                db.prepare("SELECT f.name FROM factset_facts l JOIN facts f ON f.id = l.fact_id"
                           " WHERE l.certname_id = ? ORDER BY f.name"));
            s.bind(node);
            while (BUNRAKU_TRY(s.step())) kept.emplace_back(s.text(0));
        }
        std::vector<std::string_view> names(kept.begin(), kept.end());
        std::int64_t& id = known[name_set_hash(names)];
        if (id == 0) id = BUNRAKU_TRY(make_name_set(db, name_set_hash(names), names));
        Statement s =
            BUNRAKU_TRY(db.prepare("UPDATE factsets SET name_set_id = ? WHERE certname_id = ?"));
        s.bind(id).bind(node);
        BUNRAKU_TRY_VOID(s.run());
    }
    return {};
}

}  // namespace bunraku::store
