// SPDX-License-Identifier: Apache-2.0
#include "services/rollout/states.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <utility>

#include "core/base/assert.h"

namespace bunraku::rollout {

using base::Result;

namespace {

constexpr std::array<std::pair<State, std::string_view>, 9> kStates{{
    {State::Waiting, "waiting"},
    {State::Moving, "moving"},
    {State::Soaking, "soaking"},
    {State::Paused, "paused"},
    {State::Halted, "halted"},
    {State::Returning, "returning"},
    {State::Finishing, "finishing"},
    {State::Done, "done"},
    {State::Returned, "returned"},
}};

constexpr std::array<std::pair<Command, std::string_view>, 13> kCommands{{
    {Command::Ready, "move"},
    {Command::Proved, "soak"},
    {Command::Soaked, "go on"},
    {Command::Threshold, "halt"},
    {Command::GoBack, "back"},
    {Command::Settled, "close"},
    {Command::Switched, "close"},
    {Command::Pause, "pause"},
    {Command::Resume, "resume"},
    {Command::Halt, "halt"},
    {Command::HaltAndHold, "halt"},
    {Command::Back, "back"},
    {Command::Finish, "finish"},
}};

/// States in which waves advance.
bool advances(State state) {
    return state == State::Waiting || state == State::Moving || state == State::Soaking;
}

/// Returns why the command is refused.
std::string refusal(const Position& now, Command command) {
    if (is_closed(now.state)) return fmt::format("The rollout is {}", state_name(now.state));
    if (now.state == State::Returning &&
        (command == Command::Halt || command == Command::Back || command == Command::HaltAndHold))
        return "The rollout is going back already";
    return fmt::format("A rollout that is {} cannot {}", state_name(now.state),
                       command_name(command));
}

Position with_state(Position now, State state) {
    now.state = state;
    now.hold = false;
    now.resume = State::Moving;
    return now;
}

Position halted(const Position& now, bool hold) {
    Position out = with_state(now, State::Halted);
    out.hold = hold;
    return out;
}

/// Returns the state in which a halted rollout goes on.
Position resumed(const Position& now) {
    if (now.state == State::Paused) return with_state(now, now.resume);
    return with_state(now, now.moved > now.wave ? State::Moving : State::Waiting);
}

std::optional<Position> try_next(const Position& now, Command command, std::int64_t waves) {
    const bool open = advances(now.state);
    const bool stopped = now.state == State::Paused || now.state == State::Halted;
    switch (command) {
        case Command::Ready:
            if (now.state != State::Waiting) return std::nullopt;
            {
                Position out = with_state(now, State::Moving);
                out.moved = now.wave + 1;
                return out;
            }
        case Command::Proved:
            if (now.state != State::Moving) return std::nullopt;
            return with_state(now, State::Soaking);
        case Command::Soaked:
            if (now.state != State::Soaking) return std::nullopt;
            if (now.wave + 1 >= waves) return with_state(now, State::Finishing);
            {
                Position out = with_state(now, State::Waiting);
                ++out.wave;
                return out;
            }
        case Command::Threshold:
        case Command::Halt:
            if (!open && now.state != State::Paused) return std::nullopt;
            return halted(now, false);
        case Command::HaltAndHold:
            if (!open && !stopped) return std::nullopt;
            return halted(now, true);
        case Command::GoBack:
            if (now.state != State::Halted || now.hold) return std::nullopt;
            return with_state(now, State::Returning);
        case Command::Back:
            if (!open && !stopped) return std::nullopt;
            return with_state(now, State::Returning);
        case Command::Settled:
            if (now.state != State::Returning) return std::nullopt;
            return with_state(now, State::Returned);
        case Command::Switched:
            if (now.state != State::Finishing) return std::nullopt;
            return with_state(now, State::Done);
        case Command::Pause:
            if (!open) return std::nullopt;
            {
                Position out = with_state(now, State::Paused);
                out.resume = now.state;
                return out;
            }
        case Command::Resume: return stopped ? std::optional(resumed(now)) : std::nullopt;
        case Command::Finish:
            if (!open && !stopped) return std::nullopt;
            {
                Position out = with_state(now, State::Finishing);
                out.moved = waves;
                return out;
            }
    }
    return std::nullopt;
}

}  // namespace

std::string_view state_name(State state) {
    return std::ranges::find(kStates, state, &decltype(kStates)::value_type::first)->second;
}

std::optional<State> state_of(std::string_view name) {
    const auto at = std::ranges::find(kStates, name, &decltype(kStates)::value_type::second);
    return at == kStates.end() ? std::nullopt : std::optional(at->first);
}

std::string_view command_name(Command command) {
    return std::ranges::find(kCommands, command, &decltype(kCommands)::value_type::first)->second;
}

Result<Position> next(const Position& now, Command command, std::int64_t waves) {
    BUNRAKU_ASSERT(waves >= 1 && now.wave >= 0 && now.wave < waves);
    BUNRAKU_ASSERT(now.moved >= 0 && now.moved <= waves);
    const auto out = try_next(now, command, waves);
    if (!out) return base::failure(refusal(now, command));
    BUNRAKU_ASSERT(out->wave < waves && out->moved <= waves);
    return *out;
}

bool has_new_version(const Position& position, std::int64_t wave) {
    switch (position.state) {
        case State::Finishing:
        case State::Done: return true;
        case State::Returning:
        case State::Returned: return false;
        default: return wave < position.moved;
    }
}

}  // namespace bunraku::rollout
