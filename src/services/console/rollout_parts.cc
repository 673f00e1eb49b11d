// SPDX-License-Identifier: Apache-2.0
#include "services/console/rollout_parts.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "core/base/number.h"
#include "services/console/format.h"
#include "services/console/page.h"
#include "services/console/parts.h"

namespace bunraku::console {

using base::Result;
using rollout::Command;
using rollout::RolloutAccess;
using rollout::RolloutStatus;

namespace {

constexpr std::array<RolloutAction, 7> kRolloutActions = {{
    {"approve", "Approve", "approved", "The next wave may start.", std::nullopt},
    {"pause", "Pause", "paused",
     "No further wave starts. Nodes that have moved keep the new version, and their runs are still "
     "judged.",
     Command::Pause},
    {"resume", "Resume", "resumed",
     "The rollout continues. If it was halted, the nodes that were bad so far count as accepted.",
     Command::Resume},
    {"halt", "Halt", "halted",
     "The rollout stops. By default, or with `back: auto` in its rules, all nodes get the previous "
     "version at their next runs.",
     Command::Halt},
    {"hold", "Halt and hold", "halted",
     "The rollout stops, and nodes keep their version until an operator decides.",
     Command::HaltAndHold},
    {"back", "Go back", "going back",
     "All nodes get the previous version at their next runs. This rollout cannot be resumed.",
     Command::Back},
    {"finish", "Finish now", "finishing",
     "All nodes get the new version at their next runs, without further waves or proofs.",
     Command::Finish},
}};

struct MarkOfName {
    std::string_view name;
    State mark;
};
constexpr MarkOfName kStateMarks[] = {
    {"waiting", State::Noop},       {"moving", State::Changed}, {"soaking", State::Changed},
    {"paused", State::Silent},      {"halted", State::Failed},  {"returning", State::Corrected},
    {"returned", State::Corrected}, {"done", State::Unchanged}, {"finishing", State::Changed},
};
constexpr MarkOfName kVerdictMarks[] = {
    {"failed", State::Failed}, {"surprising", State::Corrected}, {"restless", State::Changed},
    {"silent", State::Silent}, {"proved", State::Unchanged},     {"accepted", State::Noop},
};

}  // namespace

Result<RolloutAccess*> rollouts_of(const Visit& visit) {
    if (auto* access = visit.console.context.rollouts.get()) return access;
    return not_found("This server has no rollouts, because it has no store.");
}

Result<RolloutStatus> visible_rollout(const Visit& visit) {
    auto* access = BUNRAKU_TRY(rollouts_of(visit));
    const auto unknown = [&] {
        return not_found(
            fmt::format("There is no rollout {} that you may see.", visit.param("rollout")));
    };
    const auto id = base::parse_integer<std::int64_t>(visit.param("rollout"));
    if (!id) return unknown();
    auto status = access->controller->status(*id);
    if (!status && status.error().code == rollout::kNotFound) return unknown();
    if (status && !visit.viewer.sees(status->row.environment)) return unknown();
    return status;
}

State mark_of_rollout(std::string_view state) {
    const auto* at = std::ranges::find(kStateMarks, state, &MarkOfName::name);
    return at == std::end(kStateMarks) ? State::Never : at->mark;
}

State mark_of_verdict(std::string_view verdict) {
    const auto* at = std::ranges::find(kVerdictMarks, verdict, &MarkOfName::name);
    return at == std::end(kVerdictMarks) ? State::Never : at->mark;
}

std::string_view verdict_word(std::string_view verdict) {
    return verdict.empty() ? "no verdict" : verdict;
}

bool is_bad_verdict(std::string_view verdict) {
    return !verdict.empty() && verdict != "proved" && verdict != "accepted";
}

void version_name(Html& h, const Visit& visit, const rollout::PlannedVersion& version) {
    const auto text = short_code(version.commit.empty() ? version.version : version.commit);
    const auto url = visit.console.rules()->commit_url(version.commit);
    const auto name = h.in("b", {{"class", "mono"}, {"title", version.version}});
    if (url.empty()) {
        h.foreign(text, 100);
    } else {
        h.leaf("a", {{"href", url}, {"rel", "noreferrer"}}, text);
    }
}

void wave_bar(Html& h, const rollout::WaveProgress& wave) {
    constexpr std::int64_t kWidth = 200;
    const auto share = [&](std::int64_t number) {
        return wave.nodes == 0
                   ? 0
                   : kWidth * std::clamp<std::int64_t>(number, 0, wave.nodes) / wave.nodes;
    };
    const auto svg =
        h.in("svg", {{"class", "bar"},
                     {"viewBox", fmt::format("0 0 {} 8", kWidth)},
                     {"preserveAspectRatio", "none"},
                     {"role", "img"},
                     {"aria-label", fmt::format("{} of {} moved, {} proved, {} bad", wave.moved,
                                                wave.nodes, wave.proved, wave.bad)}});
    const auto part = [&](const char* kind, std::int64_t from, std::int64_t to) {
        if (to <= from) return;
        h.empty("rect",
                {{"class", kind}, {"x", from}, {"y", 0}, {"width", to - from}, {"height", 8}});
    };
    const auto bad = share(wave.bad), proved = std::min(kWidth, bad + share(wave.proved));
    const auto moved = std::max(proved, share(wave.moved));
    part("f-failed", 0, bad);
    part("f-unchanged", bad, proved);
    part("f-changed", proved, moved);
    part("f-line", moved, kWidth);
}

std::span<const RolloutAction> rollout_actions() { return kRolloutActions; }

const RolloutAction* rollout_action_of(std::string_view id) {
    const auto* at = std::ranges::find(kRolloutActions, id, &RolloutAction::id);
    return at == kRolloutActions.end() ? nullptr : at;
}

bool is_possible(const RolloutAction& action, const RolloutStatus& status) {
    const auto& row = status.row;
    const auto position = rollout::position_of(row);
    if (rollout::is_closed(position.state)) return false;
    if (action.command)
        return rollout::next(position, *action.command,
                             static_cast<std::int64_t>(status.plan->waves.size()))
            .has_value();
    const bool advances =
        position.state != rollout::State::Returning && position.state != rollout::State::Finishing;
    return advances && row.moved <= row.wave && row.approved <= row.wave &&
           status.plan->rules.needs_approval(row.wave);
}

std::optional<RolloutStamps> rollout_stamps(RolloutAccess* access) {
    if (!access) return RolloutStamps();
    const auto rows = access->controller->list("", store::Which::Live);
    if (!rows) return std::nullopt;
    RolloutStamps out;
    for (const auto& row : *rows) {
        const auto status = access->controller->status(row);
        if (!status) return std::nullopt;
        auto& stamp = out[row.environment];
        stamp += fmt::format("{} {}", row.id, row.sequence);
        for (const auto& wave : status->waves)
            stamp += fmt::format(" {}/{}/{}", wave.moved, wave.proved, wave.bad);
    }
    return out;
}

}  // namespace bunraku::console
