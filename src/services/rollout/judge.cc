// SPDX-License-Identifier: Apache-2.0
#include "services/rollout/judge.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <fmt/format.h>
#include <optional>
#include <tuple>

namespace bunraku::rollout {

namespace {

constexpr std::array<std::string_view, 7> kNames = {"",         "failed", "unplanned", "surprising",
                                                    "restless", "silent", "proved"};

/// Reports whether the clock of the agent was ahead of the server's. No report arrives before its
/// run has begun.
bool is_ahead(const JudgedRun& run) {
    constexpr std::int64_t kTolerance = 60'000;
    return run.start > run.received + kTolerance;
}

/// Reports whether a run began after the first one with the new version, or is this one.
bool follows(const JudgedRun& run, const JudgedRun& first) {
    // The clock of the agent orders its own runs, so that a late report of an earlier run does not
    // count. If that clock was set back after the first run, compare with the arrival time of the
    // first run.
    const bool set_back = is_ahead(first) && !is_ahead(run);
    return run.start >= (set_back ? first.received : first.start);
}

/// Returns the run with the first catalog after the move, or null if its report has not come.
const JudgedRun* known_run(const JudgedNode& node) {
    const JudgedRun* out = nullptr;
    for (const JudgedRun& run : node.runs)
        if (!node.transaction.empty() && run.transaction == node.transaction) out = &run;
    return out;
}

/// Returns the run that moved the node, or null if its report has not come.
const JudgedRun* first_run(const JudgedNode& node) {
    const JudgedRun* const run = known_run(node);
    if (!run) return nullptr;
    // A run that moved the node may have ended before its catalog.
    constexpr std::int64_t kTolerance = 15 * 60'000;
    const std::int64_t begun = run->received - std::max<std::int64_t>(0, run->end - run->start);
    return std::abs(begun - node.moved) <= kTolerance ? run : nullptr;
}

/// Returns the id of the last run before the clock of the servers was set back, or -1. That run has
/// a later time than a run after it, or than the present.
std::int64_t last_before_step_back(const JudgedNode& node) {
    constexpr std::int64_t kTolerance = 60'000;  // the clocks of servers differ
    std::int64_t last = -1;
    for (const JudgedRun& run : node.runs) {
        const bool later =
            run.received > node.now + kTolerance ||
            std::ranges::any_of(node.runs, [&](const JudgedRun& other) {
                return other.id > run.id && run.received > other.received + kTolerance;
            });
        if (later) last = std::max(last, run.id);
    }
    return last;
}

/// Returns the runs with the new version, oldest first, each once.
std::vector<const JudgedRun*> runs_after_move(const JudgedNode& node) {
    std::vector<const JudgedRun*> out;
    const JudgedRun* const first = first_run(node);
    const JudgedRun* const known = known_run(node);
    const std::int64_t stepped = last_before_step_back(node);
    for (const JudgedRun& run : node.runs) {
        const bool old_clock = run.id <= stepped;
        if (run.elsewhere || (old_clock && known && run.id < known->id)) continue;
        // Without the report of the first run, only the arrival times can be compared.
        const bool arrived_later = !first && !old_clock && run.received >= node.moved;
        if (arrived_later || (known && follows(run, *known))) out.push_back(&run);
    }
    // Only runs without a catalog can be earlier than the known one.
    const auto key = [known](const JudgedRun* run) {
        const bool earlier = known && run->id < known->id && !follows(*run, *known);
        const int rank = earlier ? 0 : known && run->report == known->report ? 1 : 2;
        return std::tuple(rank, std::min(run->start, run->received), std::string_view(run->report));
    };
    std::ranges::sort(out, {}, key);
    const auto [begin, end] = std::ranges::unique(out, {}, &JudgedRun::report);
    out.erase(begin, end);
    return out;
}

std::string property_key(const JudgedEvent& event) {
    return event.property.empty() ? event.resource : event.resource + " " + event.property;
}

std::optional<std::string> failure_in(const JudgedNode& node, const JudgedRun& run) {
    if (run.cached_on_failure)
        return "The catalog could not be compiled; the agent used an older one";
    bool any = false;
    for (const JudgedEvent& event : run.events) {
        if (!event.failed) continue;
        any = true;
        if (!node.failed_before.contains(event.resource))
            return fmt::format("{} failed", event.resource);
    }
    if (run.failed && !any && !node.run_failed_before) return "The run failed";
    return std::nullopt;
}

/// Returns a change of this run that nothing explains.
const JudgedEvent* unexplained(const JudgedNode& node, const JudgedRun& run, bool first) {
    for (const JudgedEvent& event : run.events) {
        if (event.failed || event.noop || event.corrective) continue;
        if (node.habitual.contains(property_key(event))) continue;
        if (first) {
            if (node.any_change || node.expected.contains(event.resource)) continue;
            // A refresh is the result of another resource's change, and that change has its own
            // event.
            if (event.property.empty() && !node.expected.empty()) continue;
        }
        return &event;
    }
    return nullptr;
}

std::optional<std::string> missing_change(const JudgedNode& node, const JudgedRun& run) {
    for (const std::string& key : node.required) {
        const bool came = std::ranges::any_of(
            run.events, [&](const JudgedEvent& event) { return property_key(event) == key; });
        if (!came) return fmt::format("The predicted change of {} did not come", key);
    }
    return std::nullopt;
}

Judgement bad(Verdict verdict, std::string detail, std::int64_t proofs) {
    return {.verdict = verdict, .detail = std::move(detail), .proofs = proofs};
}

}  // namespace

std::int64_t Silence::open_time() const {
    std::int64_t out = std::max<std::int64_t>(0, now - last), counted = last;
    std::vector<Outage> sorted = outages;
    std::ranges::sort(sorted, {}, &Outage::from);
    for (const Outage& outage : sorted) {
        const std::int64_t from = std::max(outage.from, counted),
                           until = std::min(outage.until, now);
        if (from >= until) continue;
        out -= until - from;
        counted = until;
    }
    return out;
}

bool Silence::longer_than(std::int64_t limit) const {
    return watched > limit || open_time() > 2 * limit;
}

std::string_view verdict_name(Verdict verdict) { return kNames[static_cast<std::size_t>(verdict)]; }

bool is_before_move(const JudgedNode& node, const JudgedRun& run) {
    const JudgedRun* const known = known_run(node);
    const bool stepped = run.id <= last_before_step_back(node);
    if (known && run.id >= known->id) return false;
    if (known && !stepped && follows(run, *known)) return false;
    // If the clock was set back, reports of later runs have earlier times than the move.
    return first_run(node) || stepped || run.received < node.moved;
}

Judgement judge(const JudgedNode& node, const Rules& rules) {
    const auto runs = runs_after_move(node);
    const JudgedRun* const mover = first_run(node);
    Judgement out;
    // An unplanned catalog counts before its report arrives. A failure takes precedence, because it
    // is the more useful verdict.
    const bool failed = std::ranges::any_of(
        runs, [&](const JudgedRun* run) { return failure_in(node, *run).has_value(); });
    if (!failed && !node.unplanned.empty())
        return bad(Verdict::Unplanned, node.unplanned, out.proofs);
    for (const JudgedRun* run : runs) {
        const bool first = out.proofs == 0;
        if (auto why = failure_in(node, *run)) return bad(Verdict::Failed, *why, out.proofs);
        if (run->noop) continue;
        if (const JudgedEvent* event = unexplained(node, *run, first)) {
            const bool again =
                !first && (node.any_change || node.expected.contains(event->resource));
            return bad(again ? Verdict::Restless : Verdict::Surprising,
                       again ? fmt::format("{} changed again", property_key(*event))
                             : fmt::format("{} changed, which the plan does not predict",
                                           property_key(*event)),
                       out.proofs);
        }
        if (run->skipped || run->failed) continue;
        // If the report of the run that moved the node was lost, its changes are not known.
        if (first && mover && run->report == mover->report) {
            if (auto why = missing_change(node, *run))
                return bad(Verdict::Surprising, *why, out.proofs);
        }
        ++out.proofs;
    }
    out.detail = node.note;
    if (out.proofs >= rules.proofs && !runs.empty()) out.verdict = Verdict::Proved;
    Silence silence{.last = node.moved, .now = node.now, .watched = node.watched};
    silence.outages = node.outages;
    // A report that does not count shows at least that the agent runs.
    for (const JudgedRun& run : node.runs) silence.last = std::max(silence.last, run.received);
    const std::int64_t limit = std::max(rules.silent_after_s * 1000, 2 * node.usual_gap);
    if (out.verdict == Verdict::None && silence.longer_than(limit))
        return bad(Verdict::Silent, "No report came", out.proofs);
    return out;
}

bool too_many_bad(const Tally& tally, const Rules& rules) {
    if (rules.observe) return false;
    if (rules.canary_failures > 0 && tally.canaries_bad >= rules.canary_failures) return true;
    const auto share = static_cast<std::int64_t>(
        std::ceil(rules.failures * static_cast<double>(tally.later_judged)));
    return tally.later_bad > 0 && tally.later_bad >= std::max(rules.least_failures, share);
}

bool most_are_bad(std::int64_t bad, std::int64_t judged, const Rules& rules) {
    return !rules.observe && 2 * bad > judged;
}

bool fleet_fails(std::int64_t failed, std::int64_t nodes, std::int64_t moved_failed,
                 std::int64_t moved_nodes) {
    constexpr std::int64_t kEnough = 3;
    if (failed < kEnough || moved_failed == 0 || moved_nodes == 0) return false;
    // At least half as often as with the new version.
    return 2 * failed * moved_nodes >= moved_failed * nodes;
}

}  // namespace bunraku::rollout
