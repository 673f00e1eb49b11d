// SPDX-License-Identifier: Apache-2.0
// The packages of the fleet, and the versions of one package with their nodes.
#include <fmt/format.h>

#include "core/value/hash_access.h"
#include "services/console/format.h"
#include "services/console/pages/pages.h"
#include "services/console/parts.h"

namespace bunraku::console {

using base::Result;

namespace {

constexpr std::size_t kRowsOfPage = 200;
constexpr std::size_t kMostPages = 1000;
constexpr std::size_t kMostNodes = 500;

std::int64_t count_in(const value::Value& row) {
    const auto* count = value::at(row, "count");
    return count && count->is_integer() ? count->as_integer() : 0;
}

}  // namespace

Result<Response> packages_page(Visit& visit) {
    const auto find = visit.query("find");
    const auto page = visit.number("page", 1, kMostPages);
    const auto rows = BUNRAKU_TRY(
        visit.ask(R"(["from","packages",["extract",["package_name",["function","count"]],)"
                  R"(["~","package_name",{}],["group_by","package_name"]],)"
                  R"(["order_by",["package_name"]],["limit",{}],["offset",{}]])",
                  find, kRowsOfPage + 1, (page - 1) * kRowsOfPage));
    Html h;
    {
        const auto form = h.in("form", {{"class", "head"}});
        h.leaf("label", {{"class", "vh"}, {"for", "find"}}, "Search packages");
        h.empty("input", {{"id", "find"},
                          {"name", "find"},
                          {"type", "search"},
                          {"size", 40},
                          {"value", find},
                          {"placeholder", "Regular expression, such as ^lib"}});
        h.leaf("button", "Search");
    }
    {
        const auto panel = h.in("section", {{"class", "panel"}});
        if (rows.empty()) {
            empty_state(h, "No packages are known",
                        "Agents send their packages if the fact _puppet_inventory_1 exists.");
        } else {
            constexpr Column kColumns[] = {{"Package"}, {"Versions", true}};
            const auto table = open_table(h, kColumns, "Packages");
            for (std::size_t i = 0; i < std::min(kRowsOfPage, rows.size()); ++i) {
                const auto name = value::text_at(rows[i], "package_name");
                const auto row = h.in("tr");
                {
                    const auto td = h.in("td");
                    const auto link = h.in("a", {{"href", Url({"packages", name})}});
                    h.foreign(name, 200);
                }
                const auto td = h.in("td", {{"class", "r"}});
                count_link(h, count_in(rows[i]), Url({"packages", name}));
            }
        }
    }
    if (rows.size() > kRowsOfPage) {
        const auto pager = h.in("nav", {{"class", "pager"}, {"aria-label", "Pages"}});
        h.link(Url({"packages"}).with("find", find).with("page", std::to_string(page + 1)),
               "Next page");
    }
    return visit.page({.title = "Packages", .nav = "packages"}, std::move(h));
}

Result<Response> package_page(Visit& visit) {
    const auto name = visit.param("package");
    const auto version = visit.query("version");
    const auto versions = BUNRAKU_TRY(visit.ask(
        R"(["from","package_inventory",["extract",["version","provider",["function","count"]],)"
        R"(["=","package_name",{}],["group_by","version","provider"]],["order_by",["version"]]])",
        name));
    if (versions.empty()) return not_found(fmt::format("No node has the package {}.", name));
    Html h;
    {
        const auto panel = open_panel(h, "Versions");
        constexpr Column kColumns[] = {{"Version"}, {"Provider"}, {"Nodes", true}};
        const auto table = open_table(h, kColumns, "Versions");
        for (const auto& each : versions) {
            const auto text = value::text_at(each, "version");
            const auto row = h.in("tr", {{"aria-current", "true", text == version}});
            {
                const auto td = h.in("td", {{"class", "mono"}});
                h.foreign(text, 200);
            }
            cell(h, value::text_at(each, "provider"));
            const auto td = h.in("td", {{"class", "r"}});
            count_link(h, count_in(each), Url({"packages", name}).with("version", text));
        }
    }
    if (!version.empty()) {
        const auto nodes = BUNRAKU_TRY(visit.ask(
            R"(["from","package_inventory",["extract",["certname"],["and",["=","package_name",{}],)"
            R"(["=","version",{}]]],["order_by",["certname"]],["limit",{}]])",
            name, version, kMostNodes));
        const auto panel = open_panel(h, fmt::format("Nodes with version {}", version));
        const auto list = h.in("ul", {{"class", "in chips"}});
        for (const auto& node : nodes) {
            const auto item = h.in("li", {{"class", "chip"}});
            node_link(h, value::text_at(node, "certname"));
        }
        if (nodes.size() == kMostNodes)
            h.leaf("li", fmt::format("Only the first {} are shown.", kMostNodes));
    }
    return visit.page({.title = "Package " + std::string(name), .nav = "packages"}, std::move(h));
}

}  // namespace bunraku::console
