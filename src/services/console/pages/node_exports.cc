// SPDX-License-Identifier: Apache-2.0
// What a node exports, and what it has collected from other nodes.
#include "store/engine/node_exports.h"

#include <algorithm>
#include <fmt/format.h>

#include "services/console/format.h"
#include "services/console/node_head.h"
#include "services/console/pages/pages.h"
#include "services/console/parts.h"

namespace bunraku::console {

using base::Result;

namespace {

constexpr std::size_t kMostRows = 500;

std::string title_of(std::string_view what, std::size_t number) {
    return fmt::format("{} ({}{})", what,
                       number_text(static_cast<std::int64_t>(std::min(number, kMostRows))),
                       number > kMostRows ? " and more" : "");
}

void resource_cell(Html& h, const NodeView& node, const std::string& type,
                   const std::string& title) {
    const auto td = h.in("td", {{"class", "res"}});
    const auto link = h.in("a", {{"href", Url({"nodes", node.row.certname, "catalog"})
                                              .with("resource", type + "[" + title + "]")}});
    resource_name(h, type, title);
}

void write_exported(Html& h, const NodeView& node, const std::vector<store::ExportedRow>& rows) {
    const auto panel = open_panel(h, title_of("Exports", rows.size()));
    if (rows.empty())
        return empty_state(h, "No exports", "The newest catalog has no exported resource.");
    constexpr Column kColumns[] = {{"Resource"}, {"Declared in"}};
    const auto table = open_table(h, kColumns, "Exports");
    for (std::size_t i = 0; i < std::min(kMostRows, rows.size()); ++i) {
        const auto row = h.in("tr");
        resource_cell(h, node, rows[i].type, rows[i].title);
        const auto td = h.in("td", {{"class", "mono m"}});
        if (!rows[i].file.empty())
            h.foreign(
                rows[i].line > 0 ? fmt::format("{}:{}", rows[i].file, rows[i].line) : rows[i].file,
                300);
    }
}

void write_collected(Html& h, const NodeView& node, const std::vector<store::CollectedRow>& rows) {
    const auto panel = open_panel(h, title_of("Collected", rows.size()));
    if (rows.empty()) {
        return empty_state(h, "Nothing was collected",
                           "No resource of the newest catalog is exported by another active node.");
    }
    constexpr Column kColumns[] = {{"Resource"}, {"Exported by"}};
    const auto table = open_table(h, kColumns, "Collected");
    for (std::size_t i = 0; i < std::min(kMostRows, rows.size()); ++i) {
        const auto row = h.in("tr");
        resource_cell(h, node, rows[i].type, rows[i].title);
        const auto td = h.in("td");
        node_link(h, rows[i].exporter);
    }
}

}  // namespace

Result<Response> node_exports_page(Visit& visit) {
    const auto node = BUNRAKU_TRY(node_of(visit));
    std::vector<store::ExportedRow> exported;
    std::vector<store::CollectedRow> collected;
    const auto sees = [&](std::int64_t environment) {
        const auto& names = visit.known_fleet->environments;
        const auto it = names.find(environment);
        return visit.viewer.sees(it == names.end() ? std::string_view() : it->second);
    };
    {
        auto db = BUNRAKU_TRY(visit.console.store->reader());
        // The catalog may be of another environment than the last run.
        if (!sees(BUNRAKU_TRY(store::catalog_environment(*db, node.row.run.node))))
            return not_found("There is no catalog of this node that you may see.");
        exported = BUNRAKU_TRY(store::exported_by(*db, node.row.run.node, kMostRows + 1));
        collected = BUNRAKU_TRY(store::collected_by(*db, node.row.run.node, kMostRows + 1));
    }
    std::erase_if(collected,
                  [&](const store::CollectedRow& row) { return !sees(row.environment); });
    Html h;
    {
        const auto columns = h.in("div", {{"class", "cols c66"}});
        {
            const auto left = h.in("div");
            write_exported(h, node, exported);
        }
        const auto right = h.in("div");
        write_collected(h, node, collected);
    }
    return visit.page(node_head(visit, node, "Exports"), std::move(h));
}

}  // namespace bunraku::console
