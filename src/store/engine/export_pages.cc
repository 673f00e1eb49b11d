// SPDX-License-Identifier: Apache-2.0
#include "store/engine/export_pages.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>

#include "resources/catalog/exported.h"
#include "store/engine/query.h"

namespace bunraku::store {

// The types are found one by one in the index over exported resources.
constexpr std::string_view kExportedTypesSql =
    "WITH RECURSIVE types (type) AS (SELECT min(r.type) FROM resources r WHERE r.exported = 1"
    " UNION ALL SELECT (SELECT min(r.type) FROM resources r WHERE r.exported = 1"
    " AND r.type > types.type) FROM types WHERE types.type IS NOT NULL)"
    " SELECT t.type, count(*), sum(t.resources) FROM types JOIN catalog_types t"
    " ON t.type = types.type AND t.exported = 1 JOIN certnames n ON n.id = t.certname_id"
    " WHERE n.deactivated IS NULL AND n.expired IS NULL GROUP BY t.type";
constexpr std::string_view kCollectedTypesSql =
    "SELECT x.type, count(DISTINCT x.certname_id) FROM exported_collections x"
    " JOIN certnames n ON n.id = x.certname_id"
    " WHERE n.deactivated IS NULL AND n.expired IS NULL GROUP BY x.type";

Result<std::vector<ExportedType>> exported_types(Database& db) {
    std::map<std::string, ExportedType, std::less<>> types;
    {
        Statement s = BUNRAKU_TRY(db.prepare(kExportedTypesSql));
        while (BUNRAKU_TRY(s.step())) {
            auto& type = types[std::string(s.text(0))];
            type.nodes = s.integer(1);
            type.resources = s.integer(2);
        }
    }
    Statement s = BUNRAKU_TRY(db.prepare(kCollectedTypesSql));
    while (BUNRAKU_TRY(s.step())) types[std::string(s.text(0))].collectors = s.integer(1);
    std::vector<ExportedType> out;
    for (auto& [name, type] : types) {
        type.type = name;
        out.push_back(std::move(type));
    }
    return out;
}

std::string exports_sql(const std::vector<std::string>& conditions, bool orphans) {
    std::string out = "SELECT r.title, n.certname, r.file, r.line";
    for (const auto& condition : conditions)
        out += fmt::format(", CASE WHEN {} THEN 1 ELSE 0 END", condition);
    out +=
        " FROM resources r JOIN catalog_resources l ON l.resource_id = r.id"
        " JOIN certnames n ON n.id = l.certname_id WHERE r.exported = 1 AND r.type = ?"
        " AND r.title >= ? AND (r.title > ? OR n.certname > ?)"
        " AND n.deactivated IS NULL AND n.expired IS NULL";
    if (orphans)
        for (const auto& condition : conditions) out += fmt::format(" AND NOT ({})", condition);
    return out + " ORDER BY r.title, n.certname LIMIT ?";
}

namespace {

Result<std::vector<CollectorUse>> collectors_of(Database& db, std::string_view type) {
    Statement s = BUNRAKU_TRY(
        db.prepare("SELECT x.name, count(*), min(n.certname) FROM exported_collections x"
                   " JOIN certnames n ON n.id = x.certname_id WHERE x.type = ?"
                   " AND n.deactivated IS NULL AND n.expired IS NULL GROUP BY x.name"
                   " ORDER BY count(*) DESC, x.name LIMIT 200"));
    s.bind(type);
    std::vector<CollectorUse> out;
    while (BUNRAKU_TRY(s.step())) {
        const auto name = s.text(0);
        const auto space = name.find(' ');
        out.push_back({.query = space == std::string_view::npos
                                    ? std::string()
                                    : std::string(name.substr(space + 1)),
                       .nodes = s.integer(1),
                       .node = std::string(s.text(2))});
    }
    return out;
}

/// Returns the condition of a collector on `r`, or nullopt if it is not known.
std::optional<SqlCondition> condition_of(std::string_view type, const CollectorUse& use) {
    if (use.query.empty()) return SqlCondition{.sql = "1 = 1", .values = {}};
    base::Arena arena(1024);
    const auto asked = catalog::export_of_name(fmt::format("{} {}", type, use.query), arena);
    if (!asked || !asked->query) return std::nullopt;
    auto condition = to_sql(*asked->query);
    return condition ? std::optional(std::move(*condition)) : std::nullopt;
}

void bind_all(Statement& s, const std::vector<SqlCondition>& conditions) {
    for (const auto& condition : conditions)
        for (const auto& value : condition.values)
            std::visit([&](const auto& v) { s.bind(v); }, value);
}

}  // namespace

Result<ExportList> list_exports(Database& db, const ExportFilter& filter) {
    ExportList out;
    out.collectors = BUNRAKU_TRY(collectors_of(db, filter.type));
    std::vector<std::size_t> numbers;
    std::vector<SqlCondition> conditions;
    std::vector<std::string> texts;
    for (std::size_t i = 0; i < std::min(out.collectors.size(), kMostCollectors); ++i) {
        auto condition = condition_of(filter.type, out.collectors[i]);
        if (!condition) continue;
        out.collectors[i].evaluated = true;
        numbers.push_back(i);
        texts.push_back(condition->sql);
        conditions.push_back(std::move(*condition));
    }
    Statement s = BUNRAKU_TRY(db.prepare_once(exports_sql(texts, filter.orphans)));
    bind_all(s, conditions);
    s.bind(filter.type).bind(filter.after_title).bind(filter.after_title).bind(filter.after_node);
    if (filter.orphans) bind_all(s, conditions);
    s.bind(filter.most);
    while (BUNRAKU_TRY(s.step())) {
        ExportRow row{.title = std::string(s.text(0)),
                      .certname = std::string(s.text(1)),
                      .file = std::string(s.text(2)),
                      .line = s.integer(3),
                      .collected = {}};
        for (std::size_t i = 0; i < numbers.size(); ++i)
            if (s.integer(static_cast<int>(4 + i)) != 0) row.collected.push_back(numbers[i]);
        out.rows.push_back(std::move(row));
    }
    return out;
}

}  // namespace bunraku::store
