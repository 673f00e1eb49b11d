// SPDX-License-Identifier: Apache-2.0
// Exported resources: who exports what to whom, what nobody collects, and what several nodes export
// under the same name.
#include "store/engine/exports.h"

#include <algorithm>
#include <fmt/format.h>

#include "services/console/format.h"
#include "services/console/pages/pages.h"
#include "services/console/parts.h"
#include "store/engine/export_pages.h"

namespace bunraku::console {

using base::Result;

namespace {

constexpr std::size_t kRowsOfPage = 100, kMostClashes = 50, kMostNames = 10, kMostText = 300;

void write_types(Html& h, const std::vector<store::ExportedType>& types) {
    const auto panel = open_panel(h, "Types");
    if (types.empty())
        return empty_state(h, "No node exports or collects resources",
                           "A manifest exports a resource with @@ before its type, and collects "
                           "exported resources with Type <<| |>>.");
    constexpr Column kColumns[] = {{"Type"},
                                   {"Exporting nodes", true},
                                   {"Resources", true},
                                   {"Collecting nodes", true},
                                   {"Result"}};
    const auto table = open_table(h, kColumns, "Types of exported resources");
    for (const auto& type : types) {
        const Url url({"exports", type.type});
        const auto row = h.in("tr");
        {
            const auto td = h.in("td");
            const auto link = h.in("a", {{"href", url}});
            h.foreign(type.type, kMostText);
        }
        number_cell(h, type.nodes);
        {
            const auto td = h.in("td", {{"class", "r"}});
            count_link(h, type.resources, url);
        }
        number_cell(h, type.collectors);
        const auto td = h.in("td");
        if (type.collectors == 0)
            state_word(h, State::Silent, "exported, never collected");
        else if (type.resources == 0)
            state_word(h, State::Noop, "collected, never exported");
    }
}

/// Writes names of nodes, at most kMostNames.
void write_names(Html& h, const std::vector<std::string>& names) {
    for (std::size_t i = 0; i < std::min(names.size(), kMostNames); ++i) {
        if (i > 0) h.text(", ");
        node_link(h, names[i]);
    }
    if (names.size() > kMostNames) h.text(fmt::format(" and {} more", names.size() - kMostNames));
}

void write_side(Html& h, const store::ExportClash::Side& side) {
    const auto line = h.in("span", {{"class", "line"}});
    node_link(h, side.certname);
    if (side.file.empty()) return;
    h.text(" ");
    const auto place = h.in("span", {{"class", "mono m"}});
    h.foreign(fmt::format("{}:{}", side.file, side.line), kMostText);
}

void write_clashes(Html& h, const std::vector<store::SharedExport>& shared) {
    const auto panel = open_panel(h, "The same name from several nodes");
    if (shared.empty())
        return empty_state(h, "No clashes", "No two nodes export a resource with the same name.");
    constexpr Column kColumns[] = {{"Resource"}, {"Exported by"}, {"Collected together by"}};
    const auto table = open_table(h, kColumns, "Clashes");
    for (std::size_t i = 0; i < std::min(shared.size(), kMostClashes); ++i) {
        const auto& each = shared[i];
        const auto row = h.in("tr");
        {
            const auto td = h.in("td", {{"class", "res"}});
            resource_name(h, each.type, each.title);
        }
        {
            const auto td = h.in("td");
            for (std::size_t n = 0; n < std::min(each.exporters.size(), kMostNames); ++n)
                write_side(h, each.exporters[n]);
            if (each.exporters.size() > kMostNames)
                h.leaf("span", {{"class", "line m"}},
                       fmt::format("and {} more", each.exporters.size() - kMostNames));
        }
        const auto td = h.in("td");
        if (each.collectors.empty()) {
            h.leaf("span", {{"class", "m"}}, "no node, so this does no harm");
        } else {
            state_mark(h, State::Failed);
            h.text(" ");
            write_names(h, each.collectors);
        }
    }
    if (shared.size() > kMostClashes) {
        // The table is closed at the end of the function, so the note is a row.
        const auto row = h.in("tr");
        h.leaf("td", {{"colspan", 3}, {"class", "m"}},
               fmt::format("Only the first {} are shown.", kMostClashes));
    }
}

void write_collectors(Html& h, const std::vector<store::CollectorUse>& collectors) {
    const auto panel = open_panel(h, "Collectors");
    if (collectors.empty())
        return empty_state(h, "No node collects this type",
                           "What nodes export of it is never used.");
    constexpr Column kColumns[] = {{"No.", true}, {"Query"}, {"Nodes", true}, {"For example"}};
    const auto table = open_table(h, kColumns, "Collectors");
    std::int64_t number = 0;
    for (const auto& each : collectors) {
        const auto row = h.in("tr");
        number_cell(h, ++number);
        {
            const auto td = h.in("td", {{"class", "mono"}});
            if (each.query.empty()) {
                h.text("all");
            } else {
                h.foreign(each.query, kMostText);
            }
            if (!each.evaluated) h.text(" ").leaf("span", {{"class", "m"}}, "(not evaluated here)");
        }
        number_cell(h, each.nodes);
        const auto td = h.in("td");
        node_link(h, each.node);
    }
}

void write_exports(Html& h, const store::ExportList& list, const Url& here, bool orphans) {
    Html beside;
    chip(beside, "all", here, !orphans);
    chip(beside, "never collected", Url(here).with("show", "orphans"), orphans);
    const auto panel = open_panel(h, "Exported resources", beside.take());
    if (list.rows.empty())
        return empty_state(
            h, "None",
            orphans ? "A collector collects each of them." : "No active node exports this type.");
    constexpr Column kColumns[] = {
        {"Title"}, {"Exported by"}, {"Declared in", false, {}, {}, true}, {"Collected by"}};
    const auto table = open_table(h, kColumns, "Exported resources");
    for (std::size_t i = 0; i < std::min(kRowsOfPage, list.rows.size()); ++i) {
        const auto& each = list.rows[i];
        const auto row = h.in("tr");
        {
            const auto td = h.in("td", {{"class", "res"}});
            h.foreign(each.title, kMostText);
        }
        {
            const auto td = h.in("td");
            node_link(h, each.certname);
        }
        {
            const auto td = h.in("td", {{"class", "wide mono"}});
            if (!each.file.empty())
                h.foreign(fmt::format("{}:{}", each.file, each.line), kMostText);
        }
        const auto td = h.in("td");
        std::int64_t nodes = 0;
        std::string numbers;
        for (const auto number : each.collected) {
            nodes += list.collectors[number].nodes;
            numbers += fmt::format("{}{}", numbers.empty() ? "" : ", ", number + 1);
        }
        if (each.collected.empty()) {
            state_word(h, State::Silent, "nobody");
        } else {
            h.text(fmt::format("{} (collector {})", count_text(nodes, "node", "nodes"), numbers));
        }
    }
}

}  // namespace

Result<Response> exports_page(Visit& visit) {
    auto db = BUNRAKU_TRY(visit.console.store->reader());
    const auto types = BUNRAKU_TRY(store::exported_types(*db));
    const auto shared = BUNRAKU_TRY(store::ExportChecker(*db).all(kMostClashes + 1));
    Html h;
    write_types(h, types);
    write_clashes(h, shared);
    return visit.page({.title = "Exports", .nav = "exports"}, std::move(h));
}

Result<Response> exported_type_page(Visit& visit) {
    const auto type = visit.param("type");
    const bool orphans = visit.query("show") == "orphans";
    if (!orphans && !visit.query("show").empty())
        return not_found("The parameter show can only be 'orphans'.");
    auto db = BUNRAKU_TRY(visit.console.store->reader());
    const auto list = BUNRAKU_TRY(store::list_exports(*db, {.type = type,
                                                            .orphans = orphans,
                                                            .after_title = visit.query("after"),
                                                            .after_node = visit.query("node"),
                                                            .most = kRowsOfPage + 1}));
    if (list.rows.empty() && list.collectors.empty() && visit.query("after").empty())
        return not_found(fmt::format("No node exports or collects the type {}.", type));
    const Url here({"exports", type});
    Html h, crumb;
    crumb.link(Url({"exports"}), "Exports");
    write_exports(h, list, here, orphans);
    if (list.rows.size() > kRowsOfPage) {
        const auto& last = list.rows[kRowsOfPage - 1];
        const auto pager = h.in("nav", {{"class", "pager"}, {"aria-label", "Pages"}});
        h.link(Url(here)
                   .with("show", orphans ? "orphans" : "")
                   .with("after", last.title)
                   .with("node", last.certname),
               "Next page");
    }
    write_collectors(h, list.collectors);
    return visit.page(
        {.title = fmt::format("Exported {}", type), .nav = "exports", .crumb = crumb.take()},
        std::move(h));
}

}  // namespace bunraku::console
