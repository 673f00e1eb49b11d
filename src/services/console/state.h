// SPDX-License-Identifier: Apache-2.0
// The seven states of a node, in the order in which the console lists them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "store/engine/runs.h"

namespace bunraku::console {

enum class State : std::uint8_t { Failed, Silent, Corrected, Changed, Noop, Never, Unchanged };
inline constexpr std::size_t kStates = 7;

struct StateText {
    State state;
    std::string_view id;     ///< in addresses, classes of the style sheet and symbols
    std::string_view label;  ///< in lists
    std::string_view about;  ///< what a node in this state did
};
inline constexpr std::array<StateText, kStates> kStateTexts = {{
    {State::Failed, "failed", "failed", "the last run had errors"},
    {State::Silent, "silent", "not reporting", "no run for 2 hours or longer"},
    {State::Corrected, "corrected", "corrected", "the last run undid drift"},
    {State::Changed, "changed", "changed", "the last run made changes"},
    {State::Noop, "noop", "noop pending", "a run without noop would change it"},
    {State::Never, "never", "never reported", "has facts or a catalog, but no run"},
    {State::Unchanged, "unchanged", "unchanged", "as its catalog says"},
}};
constexpr const StateText& text_of(State state) {
    return kStateTexts[static_cast<std::size_t>(state)];
}
constexpr std::optional<State> state_named(std::string_view id) {
    for (const auto& text : kStateTexts)
        if (text.id == id) return text.state;
    return std::nullopt;
}

/// A node counts as not reporting after this time without a run.
inline constexpr std::int64_t kSilentAfterMs = 2LL * 3600 * 1000;

/// Returns the state that a run leaves the node in, without regard to its age.
constexpr State state_of_run(const store::RunRow& run) {
    using store::RunStatus;
    if (run.status == RunStatus::Failed) return State::Failed;
    if (run.status == RunStatus::Changed) return run.corrective ? State::Corrected : State::Changed;
    return run.noop_pending ? State::Noop : State::Unchanged;
}

/// Returns the state of a node at a time (milliseconds since the epoch).
constexpr State state_of(const store::RunRow& last, std::int64_t now_ms) {
    if (last.id == 0) return State::Never;
    if (last.status == store::RunStatus::Failed) return State::Failed;
    if (now_ms - last.end >= kSilentAfterMs) return State::Silent;
    return state_of_run(last);
}

}  // namespace bunraku::console
