// SPDX-License-Identifier: Apache-2.0
#include "services/console/run_parts.h"

#include <algorithm>
#include <fmt/format.h>
#include <span>

#include "core/value/hash_access.h"
#include "services/console/catalog_graph.h"
#include "services/console/format.h"
#include "services/console/parts.h"

namespace bunraku::console {

using base::Result;

namespace {

constexpr std::size_t kMostTimes = 10;
constexpr std::size_t kMostPath = 30;
constexpr std::size_t kMostCauses = 20;
constexpr std::size_t kMostSkipped = 50;

/// Writes bars for durations; `name` writes what took the time.
template <class Name>
void write_bars(Html& h, std::span<const std::pair<std::string, double>> times, Name name) {
    const auto table = h.in("table");
    const auto body = h.in("tbody");
    const auto most = std::max(times.front().second, 1e-9);
    for (const auto& [what, seconds] : times) {
        const auto row = h.in("tr");
        {
            const auto td = h.in("td");
            name(what);
            const auto svg = h.in("svg", {{"class", "bar"},
                                          {"viewBox", "0 0 100 8"},
                                          {"preserveAspectRatio", "none"},
                                          {"aria-hidden", "true"}});
            h.empty("rect", {{"class", "f-line"}, {"width", 100}, {"height", 8}});
            h.empty("rect", {{"class", "f-accent"},
                             {"width", fmt::format("{:.1f}", 100 * seconds / most)},
                             {"height", 8}});
        }
        h.leaf("td", {{"class", "r nw"}}, seconds_text(seconds));
    }
}

}  // namespace

void write_times(Html& h, const Rows& metrics) {
    std::vector<std::pair<std::string, double>> times;
    double total = 0;
    for (const auto& metric : metrics) {
        if (value::text_at(metric, "category") != "time") continue;
        const auto* number = value::at(metric, "value");
        if (!number || !number->is_numeric()) continue;
        auto name = value::text_at(metric, "name");
        if (name == "total") {
            total = number->as_number();
        } else {
            times.emplace_back(std::move(name), number->as_number());
        }
    }
    if (times.empty()) return;
    std::ranges::stable_sort(times, std::ranges::greater{},
                             &std::pair<std::string, double>::second);
    if (times.size() > kMostTimes) times.resize(kMostTimes);
    Html beside;
    if (total > 0) beside.text(seconds_text(total));
    const auto panel = open_panel(h, "Where the time went", beside.take());
    write_bars(h, times, [&](const std::string& name) { h.foreign(name, 100); });
}

void write_slowest(Html& h, const ResourceTimes& times) {
    const auto panel = open_panel(h, "Slowest resources");
    if (times.empty()) {
        return empty_state(h, "The report has no times of resources",
                           "Agents log them if evaltrace = true is set in puppet.conf.");
    }
    std::vector<std::pair<std::string, double>> sorted(times.begin(), times.end());
    std::ranges::stable_sort(sorted, std::ranges::greater{},
                             &std::pair<std::string, double>::second);
    if (sorted.size() > kMostTimes) sorted.resize(kMostTimes);
    write_bars(h, sorted, [&](const std::string& reference) {
        const auto name = h.in("span", {{"class", "res"}});
        h.foreign(reference, 300);
    });
}

Result<void> write_critical_path(Html& h, Visit& visit, const store::Run& run,
                                 const ResourceTimes& times) {
    if (times.empty() || run.catalog_uuid.empty()) return {};
    std::optional<store::CatalogView> view;
    {
        auto db = BUNRAKU_TRY(visit.console.store->reader());
        view = BUNRAKU_TRY(store::catalog_view(*db, run.row.node));
    }
    if (!view || view->catalog_uuid != run.catalog_uuid || !visit.viewer.sees(view->environment))
        return {};
    const CatalogGraph graph(std::move(*view));
    const auto path = critical_path(graph, times);
    if (path.resources.empty()) return {};
    Html beside;
    beside.text(seconds_text(path.seconds));
    const auto panel = open_panel(h, "Critical path", beside.take());
    {
        const auto list = h.in("ol", {{"class", "todo no-mark"}});
        for (std::size_t i = 0; i < std::min(kMostPath, path.resources.size()); ++i) {
            const auto& entry = graph[path.resources[i]];
            const auto item = h.in("li");
            {
                const auto name = h.in("span", {{"class", "t res"}});
                const auto link = h.in("a", {{"href", Url({"nodes", run.certname, "catalog"})
                                                          .with("resource", entry.reference())}});
                resource_name(h, entry.type, entry.title);
            }
            h.leaf("span", {{"class", "m"}}, seconds_text(times.find(entry.reference())->second));
        }
    }
    h.leaf("footer", "These resources had to wait for each other.");
    return {};
}

void write_skipped(Html& h, const Rows& logs) {
    const auto causes = skip_causes(logs);
    if (causes.empty()) return;
    const auto panel = open_panel(h, "Skipped because of failures");
    for (std::size_t i = 0; i < std::min(kMostCauses, causes.size()); ++i) {
        const auto box = h.in("div", {{"class", "grp"}});
        {
            const auto head = h.in("div", {{"class", "sum"}});
            state_mark(h, State::Failed);
            const auto title = h.in("h3", {{"class", "res"}});
            h.foreign(causes[i].cause, 300);
        }
        const auto list = h.in("ul", {{"class", "in res"}});
        const auto& skipped = causes[i].skipped;
        for (std::size_t n = 0; n < std::min(kMostSkipped, skipped.size()); ++n) {
            const auto item = h.in("li");
            h.foreign(skipped[n], 300);
        }
        if (skipped.size() > kMostSkipped)
            h.leaf("li", {{"class", "m"}}, fmt::format("{} more", skipped.size() - kMostSkipped));
    }
}

}  // namespace bunraku::console
