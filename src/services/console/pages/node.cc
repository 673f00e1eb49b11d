// SPDX-License-Identifier: Apache-2.0
// The overview of a node: its last runs, what fails now, drift, classes and certificate.
#include <algorithm>
#include <fmt/format.h>

#include "core/value/hash_access.h"
#include "core/value/rich_data.h"
#include "services/console/certificate_parts.h"
#include "services/console/event_parts.h"
#include "services/console/failures.h"
#include "services/console/format.h"
#include "services/console/node_head.h"
#include "services/console/pages/pages.h"
#include "services/console/parts.h"
#include "services/server/ca_access.h"

namespace bunraku::console {

using base::Result;
using store::RunRow;

namespace {

constexpr std::size_t kRunsOfStrip = 50;
constexpr std::size_t kMostFailures = 5;
constexpr std::size_t kMostDrift = 10;
constexpr std::size_t kMostClasses = 40;
constexpr std::size_t kMostMessage = 1000;
constexpr std::int64_t kDriftMs = 30LL * 24 * 3600 * 1000;

double seconds_of(const RunRow& run) { return static_cast<double>(run.end - run.start) / 1000; }

/// Writes the durations of runs, oldest first, as a line.
void duration_line(Html& h, const std::vector<RunRow>& runs, double median) {
    double most = 1e-3;
    for (const RunRow& run : runs) most = std::max(most, seconds_of(run));
    std::string points;
    int x = 5;
    for (auto it = runs.rbegin(); it != runs.rend(); ++it) {
        points += fmt::format("{}{},{:.1f}", points.empty() ? "" : " ", x,
                              34 - 30 * seconds_of(*it) / most);
        x += 14;
    }
    const auto svg = h.in(
        "svg", {{"class", "strip"},
                {"viewBox", fmt::format("0 0 {} 36", 14 * kRunsOfStrip)},
                {"role", "img"},
                {"aria-label", fmt::format("Run time: median {}, last {}", seconds_text(median),
                                           seconds_text(seconds_of(runs.front())))}});
    h.empty("path", {{"class", "grid"}, {"d", fmt::format("M0 34H{}", 14 * kRunsOfStrip)}});
    h.empty("polyline", {{"class", "ln"}, {"points", points}});
}

void write_runs(Html& h, const Visit& visit, const NodeView& node, const std::vector<RunRow>& runs,
                std::int64_t total) {
    Html beside;
    {
        const auto link = beside.in("a", {{"href", Url({"nodes", node.row.certname, "runs"})}});
        beside.text(count_text(total, "run", "runs"));
    }
    const auto panel = open_panel(
        h,
        fmt::format("Last {}", count_text(static_cast<std::int64_t>(runs.size()), "run", "runs")),
        beside.take());
    if (runs.empty())
        return empty_state(h, "No run", "This node has sent no report, or all have expired.");
    const auto in = h.in("div", {{"class", "in"}});
    std::vector<StripBar> bars;
    std::vector<double> durations;
    for (auto it = runs.rbegin(); it != runs.rend(); ++it) {
        const auto state = state_of_run(*it);
        bars.push_back({state, Url({"runs", it->hash_text()}).text(), it->start,
                        fmt::format("{}: {}", time_text(it->start), text_of(state).label)});
        durations.push_back(seconds_of(*it));
    }
    linked_strip(h, bars);
    const auto middle = durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 2);
    std::ranges::nth_element(durations, middle);
    duration_line(h, runs, *middle);
    {
        const auto caption = h.in("p", {{"class", "cap"}});
        h.leaf("span", "run time, median " + seconds_text(*middle));
        h.leaf("span", "now " + seconds_text(seconds_of(runs.front())));
    }
    constexpr State kShown[] = {State::Failed, State::Corrected, State::Changed, State::Noop,
                                State::Unchanged};
    state_legend(h, kShown);
    (void)visit;
}

Result<void> write_failing(Html& h, Visit& visit, const NodeView& node,
                           const std::vector<RunRow>& runs) {
    const auto& last = node.row.run;
    std::int64_t failing = 0;
    for (const RunRow& run : runs) {
        if (run.status != store::RunStatus::Failed) break;
        ++failing;
    }
    Html beside;
    beside.link(Url({"runs", last.hash_text()}), "last run");
    const auto panel = open_panel(
        h, fmt::format("Failing now, for {}", count_text(failing, "run", "runs")), beside.take());
    auto db = BUNRAKU_TRY(visit.console.store->reader());
    const auto failures = BUNRAKU_TRY(store::run_events(*db, last, "failure", kMostFailures));
    for (const auto& event : failures) write_event(h, event, node.row.certname, "");
    if (failures.empty()) {
        const auto event = h.in("div", {{"class", "ev"}});
        h.leaf("p", {{"class", "m"}}, "The run ended before the catalog was applied:");
        const auto message = h.in("p");
        const auto error = BUNRAKU_TRY(first_error(*db, last));
        h.foreign(error ? error->message : "Its log has no error.", kMostMessage);
    }
    const auto skipped = BUNRAKU_TRY(store::run_events(*db, last, "skipped", 100));
    if (!skipped.empty()) {
        h.leaf("footer", fmt::format("{} skipped because of failures",
                                     count_text(static_cast<std::int64_t>(skipped.size()),
                                                "resource was", "resources were")));
    }
    return {};
}

Result<void> write_drift(Html& h, Visit& visit, const NodeView& node) {
    auto db = BUNRAKU_TRY(visit.console.store->reader());
    const auto rows = BUNRAKU_TRY(
        store::drift_of_node(*db, node.row.run.node, visit.now_ms - kDriftMs, kMostDrift));
    if (rows.empty()) return {};
    Html beside;
    beside.leaf("span", {{"class", "m"}}, "undone by runs of the last 30 days");
    const auto panel = open_panel(h, "Drift", beside.take());
    constexpr Column kColumns[] = {{"Resource"},    {"Property"},    {"Found"},
                                   {"Set back to"}, {"Times", true}, {"Last", true}};
    const auto table = open_table(h, kColumns, "Drift");
    for (const auto& drift : rows) {
        const auto row = h.in("tr");
        {
            const auto td = h.in("td", {{"class", "res"}});
            resource_name(h, drift.type, drift.title);
        }
        cell(h, drift.property);
        for (const auto* json : {&drift.found, &drift.set}) {
            const auto td = h.in("td", {{"class", "mono"}});
            h.foreign(value_text(*json), 80);
        }
        number_cell(h, drift.times);
        const auto td = h.in("td", {{"class", "r"}});
        const auto link =
            h.in("a", {{"class", "n"},
                       {"href", Url({"runs", store::RunRow{.hash = drift.report}.hash_text()})}});
        time_ago(h, drift.last, visit.now_ms);
    }
    return {};
}

/// The facts that the overview shows. All of them are on the page of facts.
constexpr std::string_view kMainFacts[] = {
    "os.name", "os.release.full",  "kernelrelease",       "networking.ip",
    "virtual", "processors.count", "memory.system.total", "system_uptime.uptime"};

Result<void> write_main_facts(Html& h, Visit& visit, const NodeView& node) {
    if (!node.sees_facts) {
        const auto panel = open_panel(h, "Facts");
        write_hidden(h, "facts");
        return {};
    }
    std::string fields;
    for (const auto fact : kMainFacts)
        fields += (fields.empty() ? "" : ",") + codec::json_string(fmt::format("facts.{}", fact));
    const auto rows = BUNRAKU_TRY(
        visit.run(fmt::format(R"(["from","inventory",["extract",[{}],["and",["=","certname",{}],)"
                              R"(["=","node_state","any"]]]])",
                              fields, codec::json_string(node.row.certname))));
    Html beside;
    beside.link(Url({"nodes", node.row.certname, "facts"}), "all facts");
    const auto panel = open_panel(h, "Facts", beside.take());
    if (rows.empty()) {
        empty_state(h, "No facts", "This node has sent no facts.");
        return {};
    }
    const auto in = h.in("div", {{"class", "in"}});
    const auto list = h.in("dl", {{"class", "kv"}});
    for (const auto fact : kMainFacts) {
        const auto* found = value::at(rows[0], fmt::format("facts.{}", fact));
        if (!found || found->is_undef()) continue;
        h.leaf("dt", fact);
        const auto dd = h.in("dd");
        h.foreign(found->is_string() ? std::string(found->as_string()) : value::to_json(*found),
                  200);
    }
    return {};
}

Result<void> write_classes(Html& h, Visit& visit, const NodeView& node) {
    if (!node.sees_catalog) {
        const auto panel = open_panel(h, "Classes");
        write_hidden(h, "classes");
        return {};
    }
    const auto rows = BUNRAKU_TRY(
        visit.ask(R"(["from","resources",["extract",["title"],["and",["=","certname",{}],)"
                  R"(["=","type","Class"],["=","node_state","any"]]],["order_by",["title"]]])",
                  node.row.certname));
    const auto panel = open_panel(
        h, fmt::format("Classes ({})", number_text(static_cast<std::int64_t>(rows.size()))));
    if (rows.empty()) {
        empty_state(h, "No classes", "The store has no catalog of this node.");
        return {};
    }
    const auto chips = h.in("ul", {{"class", "in chips"}});
    std::size_t shown = 0;
    for (const auto& row : rows) {
        const auto item = h.in("li", {{"class", "chip mono"}});
        if (++shown > kMostClasses) {
            h.text(fmt::format("{} more", rows.size() - kMostClasses));
            break;
        }
        h.foreign(value::text_at(row, "title"), 100);
    }
    return {};
}

/// Writes the node's certificate or request, if this server is the authority.
Result<void> write_certificate(Html& h, Visit& visit, const NodeView& node) {
    auto* ca = visit.console.context.ca;
    if (!ca) return {};
    const auto status = BUNRAKU_TRY(ca->find(node.row.certname));
    Html beside;
    if (status && visit.viewer.sees_all())
        beside.link(Url({"certificates", node.row.certname}), "details");
    const auto panel = open_panel(h, "Certificate", beside.take());
    if (!status) {
        empty_state(h, "No certificate", "This authority has signed none with the node's name.");
        return {};
    }
    const auto in = h.in("div", {{"class", "in"}});
    const auto list = h.in("dl", {{"class", "kv"}});
    h.leaf("dt", "state");
    {
        const auto dd = h.in("dd");
        certificate_word(h, *status, visit.now_ms);
    }
    if (!status->certificate) return {};
    h.leaf("dt", "expires");
    {
        const auto dd = h.in("dd");
        time_ago(h, status->certificate->not_after() * 1000, visit.now_ms);
    }
    h.leaf("dt", "serial");
    h.leaf("dd", {{"class", "mono"}}, status->certificate->serial());
    return {};
}

}  // namespace

Result<Response> node_page(Visit& visit) {
    const auto node = BUNRAKU_TRY(node_of(visit));
    std::vector<RunRow> runs;
    std::int64_t total = 0;
    {
        auto db = BUNRAKU_TRY(visit.console.store->reader());
        runs = BUNRAKU_TRY(store::runs_of_node(*db, node.row.run.node, INT64_MAX, kRunsOfStrip));
        keep_visible(visit, runs);
        // The counter is of all environments.
        total = visit.viewer.sees_all() ? BUNRAKU_TRY(store::count_runs(*db, node.row.run.node))
                                        : static_cast<std::int64_t>(runs.size());
    }
    Html h;
    {
        const auto columns = h.in("div", {{"class", "cols c84"}});
        {
            const auto left = h.in("div", {{"data-part", "runs"}});
            write_runs(h, visit, node, runs, total);
            if (node.row.run.status == store::RunStatus::Failed)
                BUNRAKU_TRY_VOID(write_failing(h, visit, node, runs));
            // Drift is of all environments in which the node ran.
            if (visit.viewer.sees_all()) BUNRAKU_TRY_VOID(write_drift(h, visit, node));
        }
        const auto right = h.in("div");
        BUNRAKU_TRY_VOID(write_main_facts(h, visit, node));
        BUNRAKU_TRY_VOID(write_classes(h, visit, node));
        BUNRAKU_TRY_VOID(write_certificate(h, visit, node));
    }
    return visit.page(node_head(visit, node, "Overview"), std::move(h));
}

}  // namespace bunraku::console
