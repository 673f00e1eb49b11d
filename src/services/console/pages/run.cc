// SPDX-License-Identifier: Apache-2.0
// One run: events by class, log, and where the time went.
#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "core/base/civil_time.h"
#include "core/value/hash_access.h"
#include "services/console/event_parts.h"
#include "services/console/format.h"
#include "services/console/pages/pages.h"
#include "services/console/parts.h"
#include "services/console/run_analysis.h"
#include "services/console/run_parts.h"

namespace bunraku::console {

using base::Result;
using store::RunEvent;

namespace {

constexpr std::size_t kMostEvents = 1000;
constexpr std::size_t kMostLogs = 1000;

/// Finds the diffs of contents in the log. Puppet logs them under the property's source.
class LoggedDiffs {
public:
    explicit LoggedDiffs(const Rows& logs) {
        for (const auto& log : logs) {
            auto message = value::text_at(log, "message");
            if (message.find("\n@@ ") == std::string::npos) continue;
            const auto start = message.find("@@ ");
            diffs_.emplace(value::text_at(log, "source"), message.substr(start));
        }
    }
    /// Returns an empty text if the log has no diff of this event.
    std::string_view of(const RunEvent& event) const {
        const auto end = fmt::format("/{}[{}]/{}", event.type, event.title, event.property);
        for (const auto& [source, diff] : diffs_)
            if (source.ends_with(end)) return diff;
        return {};
    }

private:
    std::map<std::string, std::string> diffs_;
};

/// The events of one class, in the order of the report.
struct EventGroup {
    std::string name;
    std::vector<const RunEvent*> events;
    int rank = 4;  ///< of the most important event
};

int rank_of(const RunEvent& event) {
    if (event.status == "failure") return 0;
    if (event.status == "skipped") return 3;
    return event.corrective ? 1 : 2;
}

std::vector<EventGroup> groups_of(const std::vector<RunEvent>& events) {
    std::vector<EventGroup> out;
    std::map<std::string_view, std::size_t> index;
    for (const RunEvent& event : events) {
        const auto [it, fresh] = index.try_emplace(event.containing_class, out.size());
        if (fresh) out.push_back({event.containing_class});
        auto& group = out[it->second];
        group.events.push_back(&event);
        group.rank = std::min(group.rank, rank_of(event));
    }
    std::ranges::stable_sort(out, {}, &EventGroup::rank);
    for (auto& group : out)
        std::ranges::stable_sort(group.events, {}, [](const RunEvent* e) { return rank_of(*e); });
    return out;
}

/// Returns "1 failed, 2 changed".
std::string summary_of(const EventGroup& group) {
    std::vector<std::pair<std::string_view, int>> words;
    for (const RunEvent* event : group.events) {
        const auto word = word_of(*event).word;
        const auto it = std::ranges::find(words, word, &std::pair<std::string_view, int>::first);
        if (it == words.end()) {
            words.emplace_back(word, 1);
        } else {
            ++it->second;
        }
    }
    std::string out;
    for (const auto& [word, number] : words)
        out += fmt::format("{}{} {}", out.empty() ? "" : ", ", number, word);
    return out;
}

void write_events(Html& h, std::string_view certname, const std::vector<RunEvent>& events,
                  const Rows& logs) {
    const auto panel = open_panel(h, "What happened");
    if (events.empty()) {
        return empty_state(h, "No events",
                           "The run found every resource as the catalog describes it, or it ended "
                           "before the catalog was applied.");
    }
    const LoggedDiffs diffs(logs);
    for (const EventGroup& group : groups_of(events)) {
        const auto box = h.in("div", {{"class", "grp"}});
        {
            const auto head = h.in("div", {{"class", "sum"}});
            const auto name = group.name.empty() ? "outside of classes" : group.name;
            {
                const auto title = h.in("h3", {{"class", "res"}});
                if (group.name.empty()) {
                    h.text(name);
                } else {
                    resource_name(h, "Class", name);
                }
            }
            h.leaf("span", {{"class", "m"}}, summary_of(group));
        }
        for (const RunEvent* event : group.events)
            write_event(h, *event, certname, diffs.of(*event));
    }
    if (events.size() == kMostEvents)
        h.leaf("footer", fmt::format("Only the first {} events are shown.", kMostEvents));
}

std::string_view class_of_level(std::string_view level) {
    if (level == "err" || level == "alert" || level == "emerg" || level == "crit") return "failed";
    return level == "warning" ? "silent" : "m";
}

void write_log(Html& h, const Rows& logs, const Url& here, bool only_problems) {
    Html beside;
    const auto problems = std::ranges::count_if(logs, [](const value::Value& log) {
        return class_of_level(value::text_at(log, "level")) != "m";
    });
    chip(beside, "all", here, !only_problems, static_cast<std::int64_t>(logs.size()));
    chip(beside, "warnings and errors", Url(here).with("log", "problems"), only_problems, problems);
    const auto panel = open_panel(h, "Log", beside.take());
    if (logs.empty()) return empty_state(h, "No log", "The report has no log lines.");
    const auto box = h.in(
        "div", {{"class", "log in"}, {"tabindex", "0"}, {"role", "region"}, {"aria-label", "Log"}});
    const auto table = h.in("table");
    const auto body = h.in("tbody");
    std::size_t shown = 0;
    for (const auto& log : logs) {
        const auto level = value::text_at(log, "level");
        const auto kind = class_of_level(level);
        if (only_problems && kind == "m") continue;
        if (++shown > kMostLogs) break;
        const auto row = h.in("tr");
        const auto time = base::parse_iso_time(value::text_at(log, "time"), base::kAnyShape);
        {
            const auto td = h.in("td", {{"class", "m"}});
            if (time) {
                const auto text = machine_time(time->milliseconds());
                h.leaf("time", {{"datetime", text}, {"data-at", text}}, text.substr(11, 8));
            }
        }
        h.leaf("td", {{"class", kind}}, level == "err" ? "error" : level);
        const auto td = h.in("td");
        const auto source = value::text_at(log, "source");
        if (!source.empty() && source != "Puppet") h.foreign(source, 300).text(": ");
        h.foreign(value::text_at(log, "message"));
    }
}

/// Writes the code version, with a link to the commit if console.conf has its address.
void write_code(Html& h, const Visit& visit, const store::Run& run) {
    if (run.row.code.empty()) return;
    const auto span = h.in("span");
    h.text("code ");
    const auto b = h.in("b", {{"class", "mono"}});
    const auto url = visit.console.rules()->commit_url(run.row.code);
    if (url.empty()) {
        h.foreign(short_code(run.row.code), 100);
    } else {
        h.leaf("a", {{"href", url}, {"rel", "noreferrer"}}, short_code(run.row.code));
    }
}

Markup run_heading(const Visit& visit, const store::Run& run, const std::vector<RunEvent>& events) {
    Html h;
    {
        const auto crumb = h.in("p", {{"class", "crumb"}});
        h.link(Url({"nodes"}), "Nodes").text(" / ");
        node_link(h, run.certname);
        h.text(" / ").link(Url({"nodes", run.certname, "runs"}), "Runs");
    }
    {
        const auto head = h.in("div", {{"class", "head"}});
        {
            const auto title = h.in("h1");
            h.text("Run of ");
            time_at(h, run.row.start);
        }
        const auto state = state_of_run(run.row);
        std::map<std::string_view, std::pair<State, int>> words;
        for (const RunEvent& event : events) {
            const auto word = word_of(event);
            auto& entry = words.try_emplace(word.word, word.state, 0).first->second;
            ++entry.second;
        }
        if (state == State::Failed && !words.contains("failed")) state_pill(h, state, "failed");
        if (state == State::Unchanged) state_pill(h, state, "unchanged");
        std::vector<std::pair<State, std::string>> pills;
        for (const auto& [word, entry] : words)
            pills.emplace_back(entry.first, fmt::format("{} {}", entry.second, word));
        std::ranges::stable_sort(pills, {}, &std::pair<State, std::string>::first);
        for (const auto& [kind, text] : pills) state_pill(h, kind, text);
    }
    {
        const auto meta = h.in("div", {{"class", "meta"}});
        const auto item = [&](std::string_view name, std::string_view value, bool mono = false) {
            if (value.empty()) return;
            const auto span = h.in("span");
            h.text(name).text(" ");
            const auto b = h.in("b", {{"class", "mono", mono}});
            h.foreign(value, 100);
        };
        item("took", seconds_text(static_cast<double>(run.row.end - run.row.start) / 1000));
        item("environment", run.environment);
        write_code(h, visit, run);
        item("mode", run.row.noop ? "noop" : "enforce");
        item("agent", run.puppet_version);
        item("transaction", run.transaction_uuid, true);
        if (run.cached_catalog_status != "not_used")
            item("cached catalog", run.cached_catalog_status);
    }
    return h.take();
}

/// Writes links to the runs before and after this one.
Result<void> write_neighbours(Html& h, Visit& visit, const store::Run& run) {
    auto db = BUNRAKU_TRY(visit.console.store->reader());
    auto older = BUNRAKU_TRY(store::runs_of_node(*db, run.row.node, run.row.start, 1));
    keep_visible(visit, older);
    std::vector<store::RunRow> newer;
    if (auto next = BUNRAKU_TRY(store::run_after(*db, run.row))) newer.push_back(std::move(*next));
    keep_visible(visit, newer);
    const auto pager = h.in("nav", {{"class", "pager"}, {"aria-label", "Runs of this node"}});
    if (!older.empty() && older[0].id != run.row.id) {
        h.leaf("a", {{"href", Url({"runs", older[0].hash_text()})}, {"rel", "prev"}}, "Older run");
    }
    if (!newer.empty())
        h.leaf("a", {{"href", Url({"runs", newer[0].hash_text()})}, {"rel", "next"}}, "Newer run");
    h.link(Url({"nodes", run.certname, "runs"}), "All runs of this node");
    return {};
}

}  // namespace

Result<Response> run_page(Visit& visit) {
    std::optional<store::Run> run;
    std::vector<RunEvent> events;
    store::RunData data;
    {
        auto db = BUNRAKU_TRY(visit.console.store->reader());
        run = BUNRAKU_TRY(store::find_run(*db, visit.param("run")));
        if (!run || !visit.viewer.sees(run->environment)) {
            return not_found(
                "There is no run with this address. Old runs are deleted (report-ttl).");
        }
        events = BUNRAKU_TRY(store::run_events(*db, run->row, kMostEvents));
        data = BUNRAKU_TRY(store::run_data(*db, run->row.id));
    }
    const auto logs = BUNRAKU_TRY(Rows::parse(data.logs));
    const auto metrics = BUNRAKU_TRY(Rows::parse(data.metrics));
    Html h;
    {
        const auto columns = h.in("div", {{"class", "cols c84"}});
        {
            const auto left = h.in("div");
            write_events(h, run->certname, events, logs);
            write_skipped(h, logs);
            write_log(h, logs, Url({"runs", visit.param("run")}), visit.query("log") == "problems");
        }
        const auto right = h.in("div");
        write_times(h, metrics);
        const auto times = resource_times(logs);
        write_slowest(h, times);
        BUNRAKU_TRY_VOID(write_critical_path(h, visit, *run, times));
    }
    BUNRAKU_TRY_VOID(write_neighbours(h, visit, *run));
    Head head{.title = "Run of " + run->certname, .nav = "nodes"};
    head.heading = run_heading(visit, *run, events);
    return visit.page(std::move(head), std::move(h));
}

}  // namespace bunraku::console
