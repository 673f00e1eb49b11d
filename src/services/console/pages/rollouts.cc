// SPDX-License-Identifier: Apache-2.0
// Rollouts: the list, and one rollout with its waves, nodes and events, and the actions on it.
#include <algorithm>
#include <fmt/format.h>
#include <map>

#include "core/base/number.h"
#include "core/value/hash_access.h"
#include "core/value/rich_data.h"
#include "services/console/format.h"
#include "services/console/frame.h"
#include "services/console/pages/pages.h"
#include "services/console/parts.h"
#include "services/console/rollout_parts.h"
#include "services/rollout/leftovers.h"

namespace bunraku::console {

using base::Result;
using rollout::RolloutStatus;
using store::RolloutMember;
using store::RolloutRow;

namespace {

constexpr std::size_t kRolloutsOfPage = 50, kMembersOfPage = 100;
constexpr std::size_t kMostRolloutPages = 10'000;
constexpr std::size_t kMostRolloutEvents = 200, kMostPlanGroups = 50;
/// Reading the leftovers of a node takes some milliseconds.
constexpr std::size_t kMostLeftoverNodes = 50;
constexpr std::size_t kMostReason = 500;

Url rollout_url(std::int64_t id) { return Url({"rollouts", std::to_string(id)}); }

/// Returns the commit in the name of a version's folder, such as "4126bea0c1d2-9f86d081884c7d65".
std::string_view commit_in(std::string_view version) {
    return version.substr(0, version.find('-'));
}

void write_rollout_row(Html& h, const Visit& visit, const RolloutRow& rollout,
                       const RolloutStatus* status) {
    const auto row = h.in("tr");
    {
        const auto td = h.in("td");
        h.link(rollout_url(rollout.id), fmt::format("Rollout {}", rollout.id));
    }
    cell(h, rollout.environment);
    {
        const auto td = h.in("td", {{"class", "mono nw"}});
        h.foreign(short_code(commit_in(rollout.from)), 60).text(" → ");
        h.foreign(short_code(commit_in(rollout.to)), 60);
    }
    {
        const auto td = h.in("td");
        state_word(h, mark_of_rollout(rollout.state), rollout.state);
        if (status && !status->waiting.empty()) {
            const auto line = h.in("span", {{"class", "line m sm"}});
            h.text("waits for ").foreign(status->waiting, 200);
        } else if (!rollout.reason.empty()) {
            const auto line = h.in("span", {{"class", "line m sm"}});
            h.foreign(rollout.reason, 200);
        }
    }
    {
        const auto td = h.in("td", {{"class", "nw"}});
        if (status) {
            rollout::WaveProgress all;
            for (const auto& wave : status->waves) {
                all.nodes += wave.nodes;
                all.moved += wave.moved;
                all.proved += wave.proved;
                all.bad += wave.bad;
            }
            wave_bar(h, all);
            h.leaf("span", {{"class", "m sm"}},
                   fmt::format("{} of {} moved, {} bad", number_text(all.moved),
                               number_text(all.nodes), number_text(all.bad)));
        } else {
            h.leaf("span", {{"class", "m"}}, "closed");
        }
    }
    {
        const auto td = h.in("td", {{"class", "wide"}});
        h.foreign(rollout.starter, 100);
    }
    const auto td = h.in("td", {{"class", "r nw"}});
    time_ago(h, rollout.started, visit.now_ms);
}

void write_rollout_list(Html& h, const Visit& visit, rollout::RolloutAccess& access,
                        std::span<const RolloutRow> rows, std::string_view title,
                        const Markup& nothing) {
    const auto panel = open_panel(h, title);
    if (rows.empty()) {
        h.raw(nothing);
        return;
    }
    constexpr Column kColumns[] = {{"Rollout"},      {"Environment"},
                                   {"Version"},      {"State"},
                                   {"Nodes"},        {.title = "Started by", .wide_only = true},
                                   {"Started", true}};
    const auto table = open_table(h, kColumns, title);
    for (const auto& row : rows) {
        // The progress of closed rollouts would need the plan and the members of each.
        const auto status = row.live ? access.controller->status(row)
                                     : Result<RolloutStatus>(base::failure("closed"));
        write_rollout_row(h, visit, row, status ? &*status : nullptr);
    }
}

Markup no_rollouts() {
    Html h, help;
    {
        const auto pre = help.in("pre", {{"class", "diff"}, {"tabindex", "0"}});
        help.leaf("code",
                  "bunraku rollout plan --to COMMIT --out plan.json\n"
                  "bunraku rollout start plan.json --reason \"why\"");
    }
    empty_state(h, "No rollout is under way",
                "A rollout gives a new version of an environment to a few nodes first, and "
                "continues if their runs are good. Start one on the server:",
                help.take());
    return h.take();
}

/// Writes the versions, who started the rollout, and what it does now.
void write_rollout_meta(Html& h, const Visit& visit, const RolloutStatus& status) {
    const auto& row = status.row;
    const auto meta = h.in("div", {{"class", "meta"}, {"data-part", "rollout-meta"}});
    {
        const auto span = h.in("span");
        h.text("from ");
        version_name(h, visit, status.plan->from);
        h.text(" to ");
        version_name(h, visit, status.plan->to);
    }
    {
        const auto span = h.in("span");
        h.text("started ");
        time_ago(h, row.started, visit.now_ms);
        h.text(" by ");
        const auto b = h.in("b");
        h.foreign(row.starter, 100);
    }
    {
        const auto span = h.in("span");
        h.text(row.state).text(" since ");
        time_at(h, row.since);
    }
    if (!row.reason.empty()) {
        const auto span = h.in("span");
        h.text("reason ");
        const auto b = h.in("b");
        h.foreign(row.reason, kMostReason);
    }
    if (status.waiting.empty()) return;
    const auto span = h.in("span");
    h.text("waits for ");
    const auto b = h.in("b");
    h.foreign(status.waiting, 300);
}

void write_rollout_buttons(Html& h, const Visit& visit, const RolloutStatus& status) {
    // The element exists in every state, so that a live page can fill it.
    const auto tools = h.in("div", {{"class", "tools"}, {"data-part", "rollout-actions"}});
    if (!visit.viewer.may(Right::Operate)) return;
    for (const auto& action : rollout_actions()) {
        if (!is_possible(action, status)) continue;
        h.leaf("a",
               {{"class", action.id == "approve" || action.id == "resume" ? "btn pri" : "btn"},
                {"href", rollout_url(status.row.id).with("confirm", action.id)}},
               action.verb);
    }
}

Markup rollout_heading(const Visit& visit, const RolloutStatus& status) {
    Html h;
    {
        const auto crumb = h.in("p", {{"class", "crumb"}});
        h.link(Url({"rollouts"}), "Rollouts").text(" / ");
        const auto link =
            h.in("a", {{"href", Url({"rollouts"}).with("environment", status.row.environment)}});
        h.foreign(status.row.environment, 200);
    }
    {
        const auto head = h.in("div", {{"class", "head"}});
        h.leaf("h1", fmt::format("Rollout {}", status.row.id));
        {
            const auto state = h.in("span", {{"data-part", "rollout-state"}});
            state_pill(h, mark_of_rollout(status.row.state), status.row.state);
        }
        write_rollout_buttons(h, visit, status);
    }
    write_rollout_meta(h, visit, status);
    return h.take();
}

/// Writes everything that is needed to decide, and the button that acts.
void write_rollout_question(Html& h, const Visit& visit, const RolloutStatus& status,
                            const RolloutAction& action) {
    const auto panel = open_panel(
        h, fmt::format("{}: rollout {} of {}", action.verb, status.row.id, status.row.environment));
    const auto form =
        h.in("form", {{"class", "empty"},
                      {"method", "post"},
                      {"action", Url({"rollouts", std::to_string(status.row.id), action.id})}});
    visit.csrf_field(h);
    // The server acts only if the rollout is still as this page shows it.
    h.empty("input", {{"type", "hidden"}, {"name", "sequence"}, {"value", status.row.sequence}});
    h.leaf("p", action.effect);
    {
        rollout::WaveProgress all;
        for (const auto& wave : status.waves) {
            all.moved += wave.moved;
            all.bad += wave.bad;
            all.nodes += wave.nodes;
        }
        h.leaf("p", {{"class", "m"}},
               fmt::format("Now: {}, {} of {} moved, {} bad.", status.row.state,
                           number_text(all.moved), count_text(all.nodes, "node", "nodes"),
                           number_text(all.bad)));
    }
    {
        const auto label = h.in("label");
        h.text("Reason, for the log of the rollout");
        h.empty("br");
        h.empty("input", {{"name", "reason"},
                          {"size", 48},
                          {"maxlength", static_cast<std::int64_t>(kMostReason)},
                          {"autocomplete", "off"}});
    }
    const auto chips = h.in("p", {{"class", "chips"}});
    h.leaf("button", {{"class", "pri"}}, action.verb);
    h.leaf("a", {{"class", "btn"}, {"href", rollout_url(status.row.id)}}, "Cancel");
}

void write_waves(Html& h, const RolloutStatus& status) {
    const auto part = h.in("div", {{"data-part", "rollout-waves"}});
    const auto& row = status.row;
    const auto panel = open_panel(h, "Waves");
    constexpr Column kColumns[] = {{"Wave"},         {.title = "Progress", .wide_only = true},
                                   {"Nodes", true},  {"Moved", true},
                                   {"Proved", true}, {"Bad", true}};
    const auto table = open_table(h, kColumns, "Waves");
    for (std::size_t i = 0; i < status.waves.size(); ++i) {
        const auto& wave = status.waves[i];
        const auto number = static_cast<std::int64_t>(i);
        const auto url = rollout_url(row.id).with("wave", std::to_string(i));
        const auto tr = h.in("tr", {{"aria-current", "true", row.live && row.wave == number}});
        {
            const auto td = h.in("td", {{"class", "nw"}});
            h.text(fmt::format("{}: ", i)).foreign(status.plan->waves[i], 60);
        }
        {
            const auto td = h.in("td", {{"class", "wide"}});
            wave_bar(h, wave);
        }
        const auto count = [&](std::int64_t n, std::string_view verdict) {
            const auto td = h.in("td", {{"class", "r"}});
            count_link(h, n, Url(url).with("verdict", verdict));
        };
        count(wave.nodes, "");
        number_cell(h, wave.moved);
        count(wave.proved, "proved");
        count(wave.bad, "bad");
    }
}

/// Reports whether a member belongs to the list that the address asks for.
bool is_wanted(const RolloutMember& member, std::optional<std::int64_t> wave,
               std::string_view verdict) {
    if (wave && member.wave != *wave) return false;
    if (verdict.empty()) return true;
    if (verdict == "bad") return member.judged && is_bad_verdict(member.verdict);
    if (verdict == "none") return member.judged && member.verdict.empty();
    if (verdict == "untouched") return !member.judged;
    return member.verdict == verdict;
}

void write_member(Html& h, const RolloutStatus& status, const RolloutMember& member,
                  std::string_view version) {
    const auto row = h.in("tr");
    {
        const auto td = h.in("td");
        node_link(h, member.certname);
    }
    number_cell(h, member.wave);
    {
        const auto td = h.in("td");
        if (member.judged) {
            state_word(h, mark_of_verdict(member.verdict), verdict_word(member.verdict));
        } else {
            state_word(h, State::Never, "untouched");
        }
    }
    cell(h, version == status.row.to ? "new" : "before");
    number_cell(h, member.proofs);
    const auto td = h.in("td");
    h.foreign(member.detail, 500);
}

Result<void> write_members(Html& h, Visit& visit, rollout::RolloutAccess& access,
                           const RolloutStatus& status) {
    const auto& row = status.row;
    const auto wave = base::parse_integer<std::int64_t>(visit.query("wave"));
    const auto verdict = visit.query("verdict");
    std::vector<RolloutMember> members;
    {
        auto db = BUNRAKU_TRY(visit.console.store->reader());
        members = BUNRAKU_TRY(store::rollout_members(*db, row.id));
    }
    std::map<std::string, std::int64_t> counts;
    std::int64_t all = 0;
    for (const auto& member : members) {
        if (!is_wanted(member, wave, "")) continue;
        ++all;
        ++counts[!member.judged           ? std::string("untouched")
                 : member.verdict.empty() ? std::string("none")
                                          : member.verdict];
    }
    std::vector<const RolloutMember*> found;
    for (const auto& member : members)
        if (is_wanted(member, wave, verdict)) found.push_back(&member);
    // Nodes that need attention come first, untouched ones last; then by wave and name.
    std::ranges::stable_sort(found, {}, [](const RolloutMember* member) {
        return !member->judged ? 2 : is_bad_verdict(member->verdict) ? 0 : 1;
    });
    auto here = rollout_url(row.id);
    if (wave) here.with("wave", std::to_string(*wave));
    const auto part = h.in("div", {{"data-part", "rollout-nodes"}});
    Html beside;
    chip(beside, "all", here, verdict.empty(), all);
    for (const auto& [word, count] : counts)
        chip(beside, word == "none" ? "no verdict" : word, Url(here).with("verdict", word),
             verdict == word, count);
    const auto panel = open_panel(
        h, wave ? fmt::format("Nodes of wave {}", *wave) : std::string("Nodes"), beside.take());
    if (found.empty()) {
        Html help;
        {
            const auto link = help.in("p");
            help.link(rollout_url(row.id), "Show all nodes");
        }
        empty_state(h, "No node", "No node of this rollout is in this wave and has this verdict.",
                    help.take());
        return {};
    }
    const auto page = visit.number("page", 1, found.size() / kMembersOfPage + 1);
    const auto first = std::min(found.size(), (page - 1) * kMembersOfPage);
    const auto last = std::min(found.size(), first + kMembersOfPage);
    {
        const auto versions = access.controller->options().versions->table();
        const auto known = versions.environments.find(row.environment);
        constexpr Column kColumns[] = {{"Node"},    {"Wave", true},   {"Verdict"},
                                       {"Version"}, {"Proofs", true}, {"Reason"}};
        const auto table = open_table(h, kColumns, "Nodes");
        for (auto i = first; i < last; ++i) {
            std::string_view version = row.from;
            if (known != versions.environments.end()) {
                const auto node = known->second.nodes.find(found[i]->certname);
                if (node != known->second.nodes.end()) version = node->second.version;
            }
            if (row.state == "done") version = row.to;
            write_member(h, status, *found[i], version);
        }
    }
    if (found.size() <= kMembersOfPage) return {};
    const auto footer = h.in("footer");
    h.text(fmt::format("{} to {} of {}", first + 1, last,
                       number_text(static_cast<std::int64_t>(found.size()))));
    const auto link = [&](std::size_t to, std::string_view rel, std::string_view text) {
        const auto url = Url(here).with("verdict", verdict).with("page", std::to_string(to));
        h.leaf("a", {{"href", url}, {"rel", rel}}, text);
    };
    if (page > 1) link(page - 1, "prev", "Previous page");
    if (last < found.size()) link(page + 1, "next", "Next page");
    return {};
}

void write_leftover(Html& h, const rollout::Leftover& leftover) {
    const auto row = h.in("tr");
    {
        const auto td = h.in("td");
        node_link(h, leftover.node);
    }
    {
        const auto td = h.in("td", {{"class", "res"}});
        h.foreign(leftover.resource, 300);
    }
    cell(h, leftover.what);
    const auto td = h.in("td");
    if (leftover.command.empty()) return;
    const auto code = h.in("code");
    h.foreign(leftover.command, 500);
}

/// Writes what a return to the previous version does not undo. Shown once a rollout is paused,
/// halted or undone.
Result<void> write_leftovers(Html& h, Visit& visit, rollout::RolloutAccess& access,
                             const RolloutStatus& status) {
    // The element exists in every state, so that a live page can fill it.
    const auto part = h.in("div", {{"data-part", "rollout-leftovers"}});
    const auto& row = status.row;
    if (row.state != "paused" && row.state != "halted" && row.state != "returning" &&
        row.state != "returned")
        return {};
    std::vector<rollout::Leftover> leftovers;
    std::size_t nodes = 0;
    {
        auto db = BUNRAKU_TRY(visit.console.store->reader());
        auto members = BUNRAKU_TRY(rollout::moved_members(*db, row));
        nodes = members.size();
        members.resize(std::min(nodes, kMostLeftoverNodes));
        auto versions = access.controller->options().versions->table();
        leftovers = BUNRAKU_TRY(rollout::read_leftovers(
            *db, row, *status.plan, members, versions.environments[row.environment].nodes));
    }
    const auto panel = open_panel(h, "What a return does not undo");
    if (leftovers.empty()) {
        empty_state(h, "Nothing", "The previous version undoes all changes of these nodes.");
    } else {
        constexpr Column kColumns[] = {{"Node"}, {"Resource"}, {"What stays"}, {"Command to undo"}};
        const auto table = open_table(h, kColumns, "What a return does not undo");
        for (const auto& leftover : leftovers) write_leftover(h, leftover);
    }
    if (nodes <= kMostLeftoverNodes) return {};
    h.leaf("footer",
           fmt::format("{} of {} nodes; all: bunraku rollout show {} --leftovers",
                       kMostLeftoverNodes, number_text(static_cast<std::int64_t>(nodes)), row.id));
    return {};
}

Result<void> write_rollout_events(Html& h, Visit& visit, const RolloutStatus& status) {
    std::vector<store::RolloutEvent> events;
    {
        auto db = BUNRAKU_TRY(visit.console.store->reader());
        events = BUNRAKU_TRY(store::rollout_events(*db, status.row.id));
    }
    const auto part = h.in("div", {{"data-part", "rollout-events"}});
    const auto panel = open_panel(h, "Events");
    const auto list = h.in("ul", {{"class", "todo no-mark"}});
    std::size_t shown = 0;
    for (auto it = events.rbegin(); it != events.rend(); ++it) {
        if (++shown > kMostRolloutEvents) break;
        base::Arena arena;
        const auto detail = value::parse_json(arena, it->detail);
        const auto text = [&](std::string_view name) {
            return detail && detail->is_hash() ? value::text_at(*detail, name) : std::string();
        };
        const auto item = h.in("li");
        {
            const auto what = h.in("span", {{"class", "t"}});
            h.leaf("b", it->what);
            if (const auto state = text("state"); !state.empty()) h.text(" → ").foreign(state, 60);
            if (!it->actor.empty()) {
                h.leaf("span", {{"class", "m"}}, " by ");
                h.foreign(it->actor, 100);
            }
        }
        {
            const auto when = h.in("span", {{"class", "m"}});
            time_ago(h, it->time, visit.now_ms);
        }
        if (const auto reason = text("reason"); !reason.empty()) {
            const auto why = h.in("span", {{"class", "w"}});
            h.foreign(reason, kMostReason);
        }
    }
    return {};
}

/// Writes what the plan says about the change.
void write_plan(Html& h, const RolloutStatus& status) {
    const auto& plan = *status.plan;
    Html beside;
    beside.leaf("span", {{"class", "m"}},
                count_text(static_cast<std::int64_t>(plan.groups.size()), "group", "groups"));
    const auto panel = open_panel(h, "What changes", beside.take());
    std::vector<std::int64_t> nodes(plan.groups.size());
    for (const auto& node : plan.nodes)
        for (const auto group : node.groups)
            if (group < nodes.size()) ++nodes[group];
    if (plan.groups.empty()) {
        empty_state(h, "No catalog changes", "The plan predicts no change on any node.");
    } else {
        const auto list = h.in("ul", {{"class", "todo no-mark"}});
        for (std::size_t i = 0; i < std::min(kMostPlanGroups, plan.groups.size()); ++i) {
            const auto& group = plan.groups[i];
            const auto item = h.in("li");
            {
                const auto what = h.in("span", {{"class", "t"}});
                h.text(group.kind).text(" ");
                {
                    const auto resource = h.in("span", {{"class", "res"}});
                    h.foreign(group.reference, 300);
                }
                h.text(" ").foreign(group.parameter, 100);
            }
            h.leaf("span", {{"class", "m"}}, count_text(nodes[i], "node", "nodes"));
            if (!group.because.empty()) {
                const auto why = h.in("span", {{"class", "w"}});
                h.foreign(group.because.front(), 300);
            }
        }
        if (plan.groups.size() > kMostPlanGroups)
            h.leaf("li", {{"class", "m"}},
                   fmt::format("{} more", plan.groups.size() - kMostPlanGroups));
    }
    const auto footer = h.in("footer");
    const auto untouched =
        std::ranges::count_if(plan.nodes, [](const auto& node) { return !node.touched(); });
    h.leaf("span", fmt::format("{} untouched, {} excluded", number_text(untouched),
                               number_text(static_cast<std::int64_t>(plan.excluded.size()))));
    for (const auto& kind : plan.uncovered) {
        const auto note = h.in("span");
        h.text("no canary has: ").foreign(kind, 200);
    }
}

}  // namespace

Result<Response> rollouts_page(Visit& visit) {
    auto* access = BUNRAKU_TRY(rollouts_of(visit));
    const auto environment = visit.query("environment");
    auto rows = BUNRAKU_TRY(access->controller->list(environment, store::Which::All));
    std::erase_if(rows, [&](const RolloutRow& row) { return !visit.viewer.sees(row.environment); });
    const auto closed =
        std::ranges::stable_partition(rows, [](const RolloutRow& row) { return row.live; });
    const std::span<const RolloutRow> live(rows.begin(), closed.begin());
    const std::span<const RolloutRow> past(closed.begin(), closed.end());
    const auto page = visit.number("page", 1, kMostRolloutPages);
    const auto first = std::min(past.size(), (page - 1) * kRolloutsOfPage);
    const auto shown = past.subspan(first, std::min(kRolloutsOfPage, past.size() - first));
    Html heading;
    {
        const auto head = heading.in("div", {{"class", "head"}});
        heading.leaf("h1", "Rollouts");
        if (!environment.empty()) {
            const auto span = heading.in("span", {{"class", "m"}});
            heading.text("of the environment ").foreign(environment, 200);
            heading.text(" · ").link(Url({"rollouts"}), "all");
        }
    }
    Html h;
    const auto list = [&] {
        const auto part = h.in(
            "div", {{"class", "cols"}, {"data-part", "rollouts"}, {"data-follow", "rollouts"}});
        const auto inner = h.in("div");
        write_rollout_list(h, visit, *access, live, "Under way", no_rollouts());
        Html none;
        empty_state(none, "No earlier rollout", "Rollouts that are done or went back appear here.");
        write_rollout_list(h, visit, *access, shown, "Earlier", none.take());
    };
    list();
    if (past.size() > kRolloutsOfPage) {
        const auto pager = h.in("nav", {{"class", "pager"}, {"aria-label", "Pages"}});
        const auto link = [&](std::size_t to, std::string_view rel, std::string_view text) {
            const auto url =
                Url({"rollouts"}).with("environment", environment).with("page", std::to_string(to));
            h.leaf("a", {{"href", url}, {"rel", rel}}, text);
        };
        if (page > 1) link(page - 1, "prev", "Newer rollouts");
        if (first + shown.size() < past.size()) link(page + 1, "next", "Older rollouts");
    }
    Head head{.title = "Rollouts", .nav = "rollouts"};
    head.heading = heading.take();
    return visit.page(std::move(head), std::move(h));
}

Result<Response> rollout_page(Visit& visit) {
    auto* access = BUNRAKU_TRY(rollouts_of(visit));
    const auto status = BUNRAKU_TRY(visible_rollout(visit));
    Html h;
    if (const auto* done = rollout_action_of(visit.query("done"))) {
        const auto bar = h.in("p", {{"class", "note-bar"}, {"role", "status"}});
        h.text(fmt::format("Done: {}.", done->done));
    }
    if (const auto* action = rollout_action_of(visit.query("confirm"));
        action && visit.viewer.may(Right::Operate)) {
        if (is_possible(*action, status)) {
            write_rollout_question(h, visit, status, *action);
        } else {
            const auto bar = h.in("p", {{"class", "note-bar"}, {"role", "status"}});
            h.text(fmt::format("A rollout that is {} cannot do this: {}.", status.row.state,
                               action->verb));
        }
    }
    {
        const auto columns = h.in("div", {{"class", "cols c84"}, {"data-follow", "rollouts"}});
        {
            const auto left = h.in("div");
            write_waves(h, status);
            BUNRAKU_TRY_VOID(write_members(h, visit, *access, status));
            BUNRAKU_TRY_VOID(write_leftovers(h, visit, *access, status));
        }
        const auto right = h.in("div");
        write_plan(h, status);
        BUNRAKU_TRY_VOID(write_rollout_events(h, visit, status));
    }
    Head head{.title = fmt::format("Rollout {} of {}", status.row.id, status.row.environment),
              .nav = "rollouts"};
    head.heading = rollout_heading(visit, status);
    return visit.page(std::move(head), std::move(h));
}

Result<Response> rollout_action(Visit& visit) {
    auto* access = BUNRAKU_TRY(rollouts_of(visit));
    const auto* action = rollout_action_of(visit.param("action"));
    if (!action) return not_found("There is no such action.");
    const auto status = BUNRAKU_TRY(visible_rollout(visit));
    const auto id = status.row.id;
    const auto sequence = base::parse_integer<std::int64_t>(visit.field("sequence"));
    if (!sequence)
        return error_page(visit, 400, "Not done", "The form does not say which state it shows.");
    const auto note = [&](std::string_view result) {
        return visit.console.audit.add(
            visit.viewer,
            {.action = fmt::format("rollout.{}", action->id),
             .target = fmt::format("{} ({})", id, status.row.environment),
             .address = visit.request.peer.address,
             .result = result},
            visit.console.context.runtime.now_ns());
    };
    // The name is that of the API, so that `approve_by: other` holds in both places.
    const bool token = visit.viewer.via == Viewer::Via::Token;
    const rollout::Actor actor{.name = token ? "token " + visit.viewer.name : visit.viewer.name,
                               .reason = std::string(visit.field("reason").substr(0, kMostReason))};
    BUNRAKU_TRY_VOID(note("begun"));
    const auto done = action->command
                          ? access->controller->command(id, *action->command, actor, *sequence)
                          : access->controller->approve(id, actor, *sequence);
    access->changed();
    BUNRAKU_TRY_VOID(note(done ? "done" : done.error().message));
    if (done) return visit.redirect(rollout_url(id).with("done", action->id));
    const auto code = done.error().code;
    if (code < 400 || code >= 500) return std::unexpected(done.error());
    return error_page(visit, code == rollout::kStale ? 409 : code, "Not done",
                      code == rollout::kConflict
                          ? done.error().message + ". Open the page again to see its state."
                          : done.error().message);
}

}  // namespace bunraku::console
