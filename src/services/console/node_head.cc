// SPDX-License-Identifier: Apache-2.0
#include "services/console/node_head.h"

#include <fmt/format.h>

#include "core/value/hash_access.h"
#include "services/console/format.h"
#include "services/console/page.h"
#include "services/console/parts.h"

namespace bunraku::console {

base::Result<NodeView> node_of(Visit& visit) {
    const auto name = visit.param("node");
    const auto unknown = [&] {
        return not_found(fmt::format("There is no node {} that you may see.", name));
    };
    const auto fleet = BUNRAKU_TRY(visit.fleet());
    NodeView out;
    if (const auto* known = fleet->find(name)) {
        out.row = *known;
    } else {
        auto db = BUNRAKU_TRY(visit.console.store->reader());
        auto inactive = BUNRAKU_TRY(store::find_node(*db, name));
        if (!inactive) return unknown();
        out.row = std::move(*inactive);
        out.active = false;
    }
    out.environment = fleet->environment(out.row.run);
    if (!visit.viewer.sees(out.environment)) return unknown();
    out.state = state_of(out.row.run, visit.now_ms);
    const auto rows = BUNRAKU_TRY(
        visit.ask(R"(["from","nodes",["extract",["facts_environment","facts_timestamp",)"
                  R"("catalog_environment","catalog_timestamp"],["and",)"
                  R"(["=","certname",{}],["=","node_state","any"]]]])",
                  name));
    if (rows.empty()) return out;
    out.facts_environment = value::text_at(rows[0], "facts_environment");
    out.catalog_environment = value::text_at(rows[0], "catalog_environment");
    const auto sees = [&](std::string_view time, std::string_view environment) {
        return value::text_at(rows[0], time).empty() || visit.viewer.sees(environment);
    };
    out.sees_facts = sees("facts_timestamp", out.facts_environment);
    out.sees_catalog = sees("catalog_timestamp", out.catalog_environment);
    return out;
}

void write_hidden(Html& h, std::string_view what) {
    empty_state(h, fmt::format("No {} that you may see", what),
                "They are of another environment than the node's last run, and you may not see "
                "that environment.");
}

Head node_head(const Visit& visit, const NodeView& node, std::string_view tab) {
    const std::string& name = node.row.certname;
    const auto& run = node.row.run;
    Html h;
    {
        const auto crumb = h.in("p", {{"class", "crumb"}});
        h.link(Url({"nodes"}), "Nodes");
        if (!node.environment.empty()) {
            h.text(" / ");
            const auto link =
                h.in("a", {{"href", Url({"nodes"}).with("environment", node.environment)}});
            h.foreign(node.environment);
        }
    }
    {
        const auto head =
            h.in("div", {{"class", "head"}, {"data-part", "head"}, {"data-node", name}});
        {
            const auto title = h.in("h1");
            h.foreign(name);
        }
        state_pill(h, node.state, text_of(node.state).label);
        if (!node.active) h.leaf("span", {{"class", "pill"}}, "deactivated or expired");
    }
    if (run.id != 0) {
        const auto meta = h.in("div", {{"class", "meta plain"}, {"data-part", "last"}});
        {
            const auto item = h.in("span");
            h.text("last run ");
            const auto value = h.in("b");
            const auto link = h.in("a", {{"href", Url({"runs", run.hash_text()})}});
            time_ago(h, run.end, visit.now_ms);
        }
        {
            const auto item = h.in("span");
            h.text("took ").leaf("b",
                                 seconds_text(static_cast<double>(run.end - run.start) / 1000));
        }
        if (!run.code.empty()) {
            const auto item = h.in("span");
            h.text("code ");
            const auto value = h.in("b", {{"class", "mono"}});
            h.foreign(short_code(run.code), 60);
        }
        // Each part of the node names its environment if they differ.
        const auto place = [&](std::string_view what, std::string_view environment) {
            if (environment.empty()) return;
            const auto item = h.in("span");
            h.text(what).text(" ");
            const auto value = h.in("b");
            h.foreign(environment, 100);
        };
        place("environment", node.environment);
        if (node.sees_catalog && node.catalog_environment != node.environment)
            place("catalog of", node.catalog_environment);
        if (node.sees_facts && node.facts_environment != node.environment)
            place("facts of", node.facts_environment);
    }
    const Tab all[] = {
        {"Overview", Url({"nodes", name}).text()},
        {"Runs", Url({"nodes", name, "runs"}).text()},
        {"Facts", Url({"nodes", name, "facts"}).text()},
        {"Catalog", Url({"nodes", name, "catalog"}).text()},
        {"Exports", Url({"nodes", name, "exports"}).text()},
        {"Packages", Url({"nodes", name, "packages"}).text()},
        {"Catalog history", Url({"nodes", name, "catalogs"}).text()},
    };
    tabs(h, "Node", all, tab);
    return {.title = name, .nav = "nodes", .heading = h.take()};
}

}  // namespace bunraku::console
