// SPDX-License-Identifier: Apache-2.0
// The runs of a node, newest first.
#include <fmt/format.h>

#include "core/base/number.h"
#include "services/console/format.h"
#include "services/console/node_head.h"
#include "services/console/pages/pages.h"
#include "services/console/parts.h"

namespace bunraku::console {

using store::RunRow;

namespace {

constexpr std::size_t kRunsOfPage = 100;

void write_run_row(Html& h, const Visit& visit, const RunRow& run) {
    const auto row = h.in("tr");
    {
        const auto td = h.in("td");
        state_word(h, state_of_run(run));
    }
    {
        const auto td = h.in("td", {{"class", "nw"}});
        const auto link = h.in("a", {{"href", Url({"runs", run.hash_text()})}});
        time_at(h, run.start);
    }
    {
        const auto td = h.in("td", {{"class", "nw wide"}});
        time_ago(h, run.start, visit.now_ms);
    }
    h.leaf("td", run.noop ? "noop" : "enforce");
    {
        const auto td = h.in("td", {{"class", "mono"}});
        h.foreign(short_code(run.code), 60);
    }
    h.leaf("td", {{"class", "r nw"}},
           seconds_text(static_cast<double>(run.end - run.start) / 1000));
}

}  // namespace

base::Result<Response> node_runs_page(Visit& visit) {
    const auto node = BUNRAKU_TRY(node_of(visit));
    const auto before =
        base::parse_integer<std::int64_t>(visit.query("before")).value_or(INT64_MAX);
    std::vector<RunRow> runs;
    {
        auto db = BUNRAKU_TRY(visit.console.store->reader());
        runs = BUNRAKU_TRY(store::runs_of_node(*db, node.row.run.node, before, kRunsOfPage + 1));
    }
    const bool more = runs.size() > kRunsOfPage;
    if (more) runs.pop_back();
    const auto oldest = runs.empty() ? 0 : runs.back().start;
    keep_visible(visit, runs);
    Html h;
    {
        const auto panel =
            h.in("section", {{"class", "panel stick"}, {"data-part", "runs"}, {"data-rows", true}});
        if (runs.empty()) {
            empty_state(h, "No run", "This node has sent no report, or all have expired.");
        } else {
            constexpr Column kColumns[] = {
                {"Status"}, {"Began"}, {.title = "Age", .wide_only = true},
                {"Mode"},   {"Code"},  {"Took", true}};
            const auto table = open_table(h, kColumns, "Runs");
            for (const RunRow& run : runs) write_run_row(h, visit, run);
        }
    }
    if (more) {
        const auto pager = h.in("nav", {{"class", "pager"}, {"aria-label", "Pages"}});
        const auto url =
            Url({"nodes", node.row.certname, "runs"}).with("before", std::to_string(oldest));
        h.leaf("a", {{"href", url}, {"rel", "next"}}, "Older runs");
    }
    return visit.page(node_head(visit, node, "Runs"), std::move(h));
}

}  // namespace bunraku::console
