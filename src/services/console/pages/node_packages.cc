// SPDX-License-Identifier: Apache-2.0
// The packages of a node.
#include "core/value/hash_access.h"
#include "services/console/format.h"
#include "services/console/node_head.h"
#include "services/console/pages/pages.h"
#include "services/console/parts.h"

namespace bunraku::console {

base::Result<Response> node_packages_page(Visit& visit) {
    const auto node = BUNRAKU_TRY(node_of(visit));
    if (!node.sees_facts) {
        Html h;
        {
            const auto panel = open_panel(h, "Packages");
            write_hidden(h, "packages");
        }
        return visit.page(node_head(visit, node, "Packages"), std::move(h));
    }
    const auto rows = BUNRAKU_TRY(visit.ask(
        R"(["from","package_inventory",["extract",["package_name","version","provider"],)"
        R"(["and",["=","certname",{}],["=","node_state","any"]]],["order_by",["package_name"]]])",
        node.row.certname));
    Html h;
    {
        const auto panel = open_panel(
            h, count_text(static_cast<std::int64_t>(rows.size()), "package", "packages"));
        if (rows.empty()) {
            empty_state(h, "No packages are known",
                        "Agents send their packages if the fact _puppet_inventory_1 exists.");
        } else {
            constexpr Column kColumns[] = {{"Package"}, {"Version"}, {"Provider"}};
            const auto table = open_table(h, kColumns, "Packages");
            for (const auto& package : rows) {
                const auto row = h.in("tr");
                const auto name = value::text_at(package, "package_name");
                {
                    const auto td = h.in("td");
                    if (visit.viewer.sees_all()) {
                        const auto link = h.in("a", {{"href", Url({"packages", name})}});
                        h.foreign(name, 200);
                    } else {
                        h.foreign(name, 200);
                    }
                }
                cell(h, value::text_at(package, "version"));
                cell(h, value::text_at(package, "provider"));
            }
        }
    }
    return visit.page(node_head(visit, node, "Packages"), std::move(h));
}

}  // namespace bunraku::console
