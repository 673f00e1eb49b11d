// SPDX-License-Identifier: Apache-2.0
#include "store/engine/node_exports.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace bunraku::store {

namespace {

constexpr std::string_view kEnvironment =
    "SELECT coalesce(environment_id, 0) FROM catalogs WHERE certname_id = ?1";
// The functions sort the rows. With ORDER BY, PostgreSQL would read the exports of all nodes in the
// order of their index.
constexpr std::string_view kExported =
    "SELECT r.type, r.title, r.file, r.line FROM catalog_resources l"
    " JOIN resources r ON r.id = l.resource_id WHERE l.certname_id = ?1 AND r.exported = 1";
constexpr std::string_view kCollected =
    "SELECT own.type, own.title, n.certname, coalesce(c.environment_id, 0) FROM catalog_resources l"
    " JOIN resources own ON own.id = l.resource_id"
    " JOIN resources x ON x.type = own.type AND x.title = own.title AND x.exported = 1"
    " JOIN catalog_resources xl ON xl.resource_id = x.id"
    " JOIN certnames n ON n.id = xl.certname_id"
    " JOIN catalogs c ON c.certname_id = n.id"
    " WHERE l.certname_id = ?1 AND own.exported = 0 AND n.id <> ?1 AND n.deactivated IS NULL"
    " AND n.expired IS NULL AND (own.parameters_id = x.parameters_id OR EXISTS (SELECT 1 FROM"
    " exported_collections ec WHERE ec.type = own.type AND ec.certname_id = ?1))"
    " LIMIT ?2";

}  // namespace

std::vector<std::string> node_exports_statements() {
    return {std::string(kEnvironment), std::string(kExported), std::string(kCollected)};
}

Result<std::int64_t> catalog_environment(Database& db, std::int64_t node) {
    Statement s = BUNRAKU_TRY(db.prepare(kEnvironment));
    s.bind(node);
    return BUNRAKU_TRY(s.step()) ? s.integer(0) : 0;
}

Result<std::vector<ExportedRow>> exported_by(Database& db, std::int64_t node, std::size_t most) {
    Statement s = BUNRAKU_TRY(db.prepare(kExported));
    s.bind(node);
    std::vector<ExportedRow> out;
    while (BUNRAKU_TRY(s.step()))
        out.push_back(
            {std::string(s.text(0)), std::string(s.text(1)), std::string(s.text(2)), s.integer(3)});
    std::ranges::sort(out, {}, [](const ExportedRow& row) {
        return std::pair(std::string_view(row.type), std::string_view(row.title));
    });
    if (out.size() > most) out.resize(most);
    return out;
}

Result<std::vector<CollectedRow>> collected_by(Database& db, std::int64_t node, std::size_t most) {
    Statement s = BUNRAKU_TRY(db.prepare(kCollected));
    s.bind(node).bind(most);
    std::vector<CollectedRow> out;
    while (BUNRAKU_TRY(s.step()))
        out.push_back(
            {std::string(s.text(0)), std::string(s.text(1)), std::string(s.text(2)), s.integer(3)});
    std::ranges::sort(out, {}, [](const CollectedRow& row) {
        return std::tuple(std::string_view(row.type), std::string_view(row.title),
                          std::string_view(row.exporter));
    });
    return out;
}

}  // namespace bunraku::store
