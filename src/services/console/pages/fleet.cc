// SPDX-License-Identifier: Apache-2.0
// The first page: the state of all nodes, and what needs attention first.
#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "services/console/activity.h"
#include "services/console/failure_parts.h"
#include "services/console/format.h"
#include "services/console/pages/pages.h"
#include "services/console/parts.h"
#include "services/console/wall.h"
#include "services/server/ca_access.h"

namespace bunraku::console {

namespace {

constexpr std::size_t kMostGroups = 60;
constexpr std::size_t kMostKinds = 6;
constexpr std::size_t kMostVersions = 6;

/// Facts that sites often group by. Any other fact can be named in the address.
constexpr std::string_view kGroupings[] = {"environment", "role",    "os",         "kernel",
                                           "datacenter",  "virtual", "class:role", "class:profile"};

void write_tiles(Html& h, const StateCounts& counts, std::string_view environment) {
    const auto tiles = h.in("div", {{"class", "tiles"}, {"data-part", "tiles"}});
    for (const auto& text : kStateTexts) {
        const auto number = counts[text.state];
        const auto url = Url({"nodes"}).with("environment", environment).with("state", text.id);
        const auto tile = h.in("a", {{"href", url}});
        state_mark(h, text.state);
        h.leaf("b", number_text(number));
        const auto label = h.in("span", {{"class", "l"}});
        h.leaf("b", text.label);
        if (text.state == State::Unchanged && counts.total > 0) {
            h.text(fmt::format("{:.1f}% of the fleet", 100.0 * static_cast<double>(number) /
                                                           static_cast<double>(counts.total)));
        } else {
            h.text(text.about);
        }
    }
}

void grouping_form(Html& h, const Fleet& fleet, const Viewer& viewer, std::string_view by,
                   std::string_view environment) {
    const auto form = h.in("form", {{"class", "tools"}});
    const auto option = [&](std::string_view value, std::string_view text, bool selected) {
        h.leaf("option", {{"value", value}, {"selected", selected}}, text);
    };
    {
        const auto label = h.in("label", {{"class", "field"}});
        h.text("Environment ");
        const auto select = h.in("select", {{"name", "environment"}});
        option("", "all", environment.empty());
        for (const auto& [id, name] : fleet.environments)
            if (viewer.sees(name)) option(name, name, name == environment);
    }
    {
        const auto label = h.in("label", {{"class", "field"}});
        h.text("Group by ");
        h.empty("input", {{"name", "by"}, {"value", by}, {"list", "groupings"}, {"size", 14}});
        const auto list = h.in("datalist", {{"id", "groupings"}});
        for (const auto name : kGroupings) option(name, name, false);
    }
    h.leaf("button", "Show");
}

void attention_item(Html& h, State state, const Markup& what, std::int64_t number,
                    std::string_view href, const Markup& more) {
    const auto item = h.in("li");
    state_mark(h, state);
    {
        const auto text = h.in("span", {{"class", "t"}});
        h.raw(what);
    }
    {
        const auto count = h.in("span");
        count_link(h, number, href);
    }
    if (!more.empty()) {
        const auto line = h.in("span", {{"class", "w"}});
        h.raw(more);
    }
}

/// Writes a state whose nodes need attention, such as those that do not report.
void attention_state(Html& h, State state, std::int64_t number, std::string_view title,
                     std::string_view about) {
    if (number == 0) return;
    const auto url = Url({"nodes"}).with("state", text_of(state).id);
    Html what, more;
    what.link(url, title);
    more.text(about);
    attention_item(h, state, what.take(), number, url, more.take());
}

/// Returns the number of certificate requests that the viewer may see.
std::int64_t waiting_requests(const Visit& visit) {
    auto* ca = visit.console.context.ca;
    if (!ca || !visit.viewer.sees_all()) return 0;
    const auto waiting = ca->waiting();
    return waiting ? static_cast<std::int64_t>(waiting->size()) : 0;
}

void write_attention(Html& h, Visit& visit, const std::vector<FailureKind>& kinds,
                     const StateCounts& counts) {
    Html beside;
    beside.link(Url({"failures"}), "all failures");
    const auto panel = open_panel(h, "Needs attention", beside.take());
    const auto requests = waiting_requests(visit);
    const auto trouble = counts[State::Failed] + counts[State::Silent] + counts[State::Noop] +
                         counts[State::Never] + requests;
    if (trouble == 0) {
        return empty_state(h, "Nothing needs attention",
                           "No run failed, every node reports, and no change waits in noop.");
    }
    const auto list = h.in("ul", {{"class", "todo"}});
    for (std::size_t i = 0; i < std::min(kMostKinds, kinds.size()); ++i) {
        const auto& kind = kinds[i];
        Html what, more;
        {
            const auto link = what.in("a", {{"href", Url({"failures", kind.id})}});
            failure_title(what, kind);
        }
        failure_origin(more, kind, visit.now_ms);
        attention_item(h, State::Failed, what.take(), static_cast<std::int64_t>(kind.nodes.size()),
                       Url({"failures", kind.id}), more.take());
    }
    attention_state(h, State::Silent, counts[State::Silent], "Not reporting",
                    "their last runs were good, and ended 2 hours ago or longer");
    attention_state(h, State::Noop, counts[State::Noop], "Noop pending",
                    "a run without noop would change them");
    attention_state(h, State::Never, counts[State::Never], "Never reported",
                    "they have facts or a catalog, but no run");
    if (requests > 0) {
        const auto url = Url({"certificates"});
        Html what, more;
        what.link(url, "Certificate requests");
        more.text("they wait to be signed");
        attention_item(h, State::Never, what.take(), requests, url, more.take());
    }
}

void write_activity(Html& h, const Fleet& fleet, std::int64_t now_ms) {
    Html beside;
    beside.leaf("span", {{"class", "m sm"}}, "per 30 minutes, last 24 hours");
    const auto panel = open_panel(h, "Runs that did something", beside.take());
    const auto in = h.in("div", {{"class", "in"}});
    if (!fleet.counted) {
        h.leaf("p", {{"class", "m"}},
               "The runs of the last 24 hours are being counted. Reload the page in a moment.");
        return;
    }
    activity_chart(h, fleet.slots, now_ms);
    std::int64_t unchanged = 0;
    for (const auto& slot : fleet.slots) unchanged += slot.unchanged;
    const auto legend = h.in("div", {{"class", "legend"}});
    for (const auto state : {State::Failed, State::Corrected, State::Changed}) state_word(h, state);
    h.leaf("span", fmt::format("{} changed nothing", count_text(unchanged, "run", "runs")));
}

struct CodeVersion {
    std::int64_t nodes = 0, failed = 0, newest = 0;
    std::vector<std::int64_t> durations;
};

void write_versions(Html& h, const Fleet& fleet, const Viewer& viewer, std::string_view environment,
                    std::int64_t now_ms) {
    std::map<std::string_view, CodeVersion> versions;
    for (const auto& node : fleet.nodes) {
        const auto of = fleet.environment(node.run);
        if (node.run.id == 0 || !viewer.sees(of) || (!environment.empty() && of != environment))
            continue;
        auto& version = versions[node.run.code];
        ++version.nodes;
        if (node.run.status == store::RunStatus::Failed) ++version.failed;
        version.newest = std::max(version.newest, node.run.end);
        version.durations.push_back(node.run.end - node.run.start);
    }
    if (versions.empty()) return;
    std::vector<std::pair<std::string_view, CodeVersion>> sorted(versions.begin(), versions.end());
    std::ranges::stable_sort(sorted, std::ranges::greater{},
                             [](const auto& v) { return v.second.nodes; });
    const auto panel = open_panel(h, "Code in the fleet");
    {
        constexpr Column kColumns[] = {{"Version"},
                                       {"Last run"},
                                       {"Nodes", true},
                                       {"Failed", true},
                                       {.title = "Median run", .right = true, .wide_only = true}};
        const auto table = open_table(h, kColumns, "Code in the fleet");
        for (std::size_t i = 0; i < std::min(kMostVersions, sorted.size()); ++i) {
            auto& [code, version] = sorted[i];
            const auto url = Url({"nodes"}).with("code", code);
            const auto row = h.in("tr");
            {
                const auto td = h.in("td", {{"class", "mono"}});
                if (code.empty()) h.leaf("span", {{"class", "m"}}, "unknown");
                h.foreign(short_code(code), 60);
            }
            {
                const auto td = h.in("td");
                time_ago(h, version.newest, now_ms);
            }
            {
                const auto td = h.in("td", {{"class", "r"}});
                count_link(h, version.nodes, url);
            }
            {
                const auto td = h.in("td", {{"class", "r"}});
                count_link(h, version.failed,
                           Url({"nodes"}).with("code", code).with("state", "failed"));
            }
            auto& durations = version.durations;
            const auto middle =
                durations.begin() + static_cast<std::ptrdiff_t>(durations.size() / 2);
            std::ranges::nth_element(durations, middle);
            h.leaf("td", {{"class", "r wide"}}, seconds_text(static_cast<double>(*middle) / 1000));
        }
    }
    if (sorted.size() > kMostVersions) {
        h.leaf("footer",
               fmt::format("and {} more versions",
                           number_text(static_cast<std::int64_t>(sorted.size() - kMostVersions))));
    }
}

void write_wall(Html& h, const std::vector<WallGroup>& groups, std::string_view by,
                std::string_view environment) {
    constexpr State kAll[] = {State::Failed, State::Silent, State::Corrected, State::Changed,
                              State::Noop,   State::Never,  State::Unchanged};
    Html beside;
    state_legend(beside, kAll);
    wall_patterns(h);
    const auto panel = open_panel(h, fmt::format("Nodes by {}", by), beside.take());
    const auto in = h.in("div", {{"class", "in"}});
    {
        const auto wall = h.in("div", {{"class", "wall"}});
        for (std::size_t i = 0; i < std::min(kMostGroups, groups.size()); ++i)
            wall_group(h, groups[i], by, environment);
    }
    if (groups.size() > kMostGroups) {
        h.leaf("p", {{"class", "m"}},
               fmt::format("{} more groups are not shown.",
                           number_text(static_cast<std::int64_t>(groups.size() - kMostGroups))));
    }
}

Markup fleet_heading(const Fleet& fleet, const Viewer& viewer, const StateCounts& counts,
                     std::string_view by, std::string_view environment) {
    Html h;
    const auto heading = [&] {
        const auto head = h.in("div", {{"class", "head"}});
        h.leaf("h1", "Fleet");
        {
            const auto summary = h.in("span", {{"class", "m"}, {"data-part", "total"}});
            h.leaf("a", {{"class", "n"}, {"href", Url({"nodes"}).with("environment", environment)}},
                   count_text(counts.total, "node", "nodes"));
        }
        grouping_form(h, fleet, viewer, by, environment);
    };
    heading();
    return h.take();
}

}  // namespace

void write_no_nodes(Html& h, const Visit& visit) {
    const auto part = h.in("div", {{"data-part", "none"}});
    const auto panel = h.in("section", {{"class", "panel"}});
    Html help;
    {
        const auto pre = help.in("pre", {{"class", "diff"}, {"tabindex", "0"}});
        help.leaf("code", fmt::format("bunraku agent --test --server {}",
                                      visit.console.context.settings.text("certname")));
    }
    if (visit.console.context.ca && visit.viewer.sees_all()) {
        const auto next = help.in("p", {{"class", "m"}});
        help.text("If its certificate waits to be signed, sign it on the page ")
            .link(Url({"certificates"}), "Certificates")
            .text(".");
    }
    empty_state(h, "No node has reported yet",
                "A node appears here after its first run. Run this on a machine:", help.take());
}

base::Result<Response> fleet_page(Visit& visit) {
    const auto fleet = BUNRAKU_TRY(visit.fleet());
    const auto environment = visit.query("environment");
    const std::string by(visit.query("by").empty() ? "environment" : visit.query("by"));
    const auto grouping = BUNRAKU_TRY(visit.console.fleet.grouping(by));
    const auto groups = wall_groups(*fleet, *grouping, visit.viewer, environment, visit.now_ms);
    StateCounts counts;
    for (const auto& group : groups) {
        counts.total += group.counts.total;
        for (std::size_t i = 0; i < kStates; ++i) counts.of[i] += group.counts.of[i];
    }
    Html h;
    Head head{.title = "Fleet", .nav = "fleet"};
    head.heading = fleet_heading(*fleet, visit.viewer, counts, by, environment);
    if (fleet->nodes.empty()) {
        write_no_nodes(h, visit);
        return visit.page(std::move(head), std::move(h));
    }
    const auto kinds =
        BUNRAKU_TRY(visit.console.failures.current(*visit.console.store, *fleet, visit.viewer));
    write_tiles(h, counts, environment);
    {
        const auto columns = h.in("div", {{"class", "cols c66"}});
        {
            const auto left = h.in("div", {{"data-part", "attention"}});
            write_attention(h, visit, kinds, counts);
        }
        const auto right = h.in("div", {{"data-part", "activity"}});
        if (visit.viewer.sees_all()) write_activity(h, *fleet, visit.now_ms);
        write_versions(h, *fleet, visit.viewer, environment, visit.now_ms);
    }
    const auto wall = [&] {
        const auto part = h.in("div", {{"data-part", "wall"}});
        write_wall(h, groups, by, environment);
    };
    wall();
    return visit.page(std::move(head), std::move(h));
}

}  // namespace bunraku::console
