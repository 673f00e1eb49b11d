// SPDX-License-Identifier: Apache-2.0
// The catalogs that a node had, and the difference between two of them.
#include <fmt/format.h>

#include "resources/catalog/diff.h"
#include "resources/catalog/diff_text.h"
#include "services/console/format.h"
#include "services/console/node_head.h"
#include "services/console/pages/pages.h"
#include "services/console/parts.h"
#include "store/engine/history.h"
#include "store/query/time_text.h"

namespace bunraku::console {

using base::Result;
using store::CatalogVersion;

namespace {

constexpr std::size_t kMostVersions = 200;

void version_radio(Html& h, std::string_view name, const CatalogVersion& version, bool checked) {
    const auto td = h.in("td");
    // Versions may differ by less than a second.
    const auto when = exact_time(version.valid_from);
    h.empty("input", {{"type", "radio"},
                      {"name", name},
                      {"value", when},
                      {"checked", checked},
                      {"aria-label", fmt::format("{} {}", name, time_text(version.valid_from))}});
}

void write_versions(Html& h, const Visit& visit, const NodeView& node,
                    const std::vector<CatalogVersion>& versions) {
    const auto form = h.in("form", {{"action", Url({"nodes", node.row.certname, "difference"})}});
    {
        constexpr Column kColumns[] = {{"From"},
                                       {"To"},
                                       {"First used"},
                                       {"Code"},
                                       {"Environment"},
                                       {.title = "Added", .right = true},
                                       {.title = "Removed", .right = true}};
        const auto table = open_table(h, kColumns, "Catalogs");
        for (std::size_t i = 0; i < std::min(kMostVersions, versions.size()); ++i) {
            const auto& version = versions[i];
            const auto row = h.in("tr");
            version_radio(h, "from", version, i == 1);
            version_radio(h, "to", version, i == 0);
            {
                const auto td = h.in("td", {{"class", "nw"}});
                time_ago(h, version.valid_from, visit.now_ms);
            }
            {
                const auto td = h.in("td", {{"class", "mono"}});
                h.foreign(short_code(version.code_id.empty() ? version.version : version.code_id),
                          60);
            }
            cell(h, version.environment);
            if (version.first) {
                h.leaf("td", {{"class", "r m"}}, "first known");
                h.leaf("td", "");
            } else {
                number_cell(h, static_cast<std::int64_t>(version.added));
                number_cell(h, static_cast<std::int64_t>(version.removed));
            }
        }
    }
    const auto line = h.in("p", {{"class", "in"}});
    h.leaf("button", "Compare the two");
}

/// Reads the catalog of the time in a parameter. Fails with kNotFound.
Result<store::PastCatalog> catalog_of(Visit& visit, const NodeView& node, std::string_view name) {
    const auto text = visit.query(name);
    const auto time = query::parse_query_time(text);
    if (!time) return not_found(fmt::format("'{}' is not a time.", text));
    auto db = BUNRAKU_TRY(visit.console.store->reader());
    auto past = BUNRAKU_TRY(store::catalog_at(*db, node.row.certname, *time));
    if (!past || !visit.viewer.sees(past->version.environment))
        return not_found(fmt::format("No catalog of {} is known.", text));
    return std::move(*past);
}

}  // namespace

Result<Response> node_catalogs_page(Visit& visit) {
    const auto node = BUNRAKU_TRY(node_of(visit));
    std::vector<CatalogVersion> versions;
    {
        auto db = BUNRAKU_TRY(visit.console.store->reader());
        versions = BUNRAKU_TRY(store::catalog_versions(*db, node.row.certname));
        std::erase_if(versions, [&](const CatalogVersion& version) {
            return !visit.viewer.sees(version.environment);
        });
    }
    Html h;
    {
        const auto panel = open_panel(
            h, count_text(static_cast<std::int64_t>(versions.size()), "catalog", "catalogs"));
        if (versions.empty()) {
            empty_state(h, "No catalogs", "The store has no catalog of this node.");
        } else {
            write_versions(h, visit, node, versions);
        }
    }
    return visit.page(node_head(visit, node, "Catalog history"), std::move(h));
}

Result<Response> node_difference_page(Visit& visit) {
    const auto node = BUNRAKU_TRY(node_of(visit));
    const auto before = BUNRAKU_TRY(catalog_of(visit, node, "from"));
    const auto after = BUNRAKU_TRY(catalog_of(visit, node, "to"));
    const auto difference = catalog::diff(before.catalog, after.catalog, {.containers = false});
    Html h;
    {
        const auto panel =
            open_panel(h, fmt::format("From {} to {}", time_text(before.version.valid_from),
                                      time_text(after.version.valid_from)));
        std::string text;
        catalog::write_diff_text(text, difference, before.catalog, after.catalog,
                                 {.truncate = false});
        if (text.empty()) {
            empty_state(h, "The same", "Both catalogs have the same resources and parameters.");
        } else {
            const auto in = h.in("div", {{"class", "in"}});
            diff_block(h, text, 2000);
        }
    }
    return visit.page(node_head(visit, node, "Catalog history"), std::move(h));
}

}  // namespace bunraku::console
