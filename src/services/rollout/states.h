// SPDX-License-Identifier: Apache-2.0
// The states of a rollout and the transitions between them. Nothing here depends on time or on the
// store, so that all transitions can be tested.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace bunraku::rollout {

enum class State : std::uint8_t {
    Waiting,    ///< for a window, an approval, a server or the store
    Moving,     ///< nodes of the wave take the new version at their next runs
    Soaking,    ///< enough nodes of the wave are proved, and time passes
    Paused,     ///< no further wave starts; runs are still judged
    Halted,     ///< a threshold was reached, or an operator stopped it; no node moves
    Returning,  ///< all nodes get the previous version at their next runs
    Finishing,  ///< the environment itself is switched to the new version
    Done,
    Returned,
};
std::string_view state_name(State state);
std::optional<State> state_of(std::string_view name);
inline bool is_closed(State state) { return state == State::Done || state == State::Returned; }

/// What a transition depends on and changes.
struct Position {
    State state = State::Waiting;
    std::int64_t wave = 0;         ///< the wave that moves or soaks, or that comes next
    std::int64_t moved = 0;        ///< number of waves that have the new version as target
    State resume = State::Moving;  ///< for Paused: the state before
    bool hold = false;             ///< for Halted: an operator decides how to go on
    bool operator==(const Position&) const = default;
};

enum class Command : std::uint8_t {
    // of the controller
    Ready,      ///< the wave may start
    Proved,     ///< enough nodes of the wave are proved
    Soaked,     ///< the time of soaking is over
    Threshold,  ///< too many nodes are bad
    GoBack,     ///< the rules say to go back after a halt
    Settled,    ///< all nodes that run have the previous version
    Switched,   ///< all servers have switched the environment
    // of operators
    Pause,
    Resume,
    Halt,
    HaltAndHold,  ///< halt, but leave the nodes as they are
    Back,
    Finish,
};
std::string_view command_name(Command command);

/// Returns the position after a command. Fails if the command is not possible in this state; the
/// message says why. `waves` is the number of waves, at least 1.
base::Result<Position> next(const Position& now, Command command, std::int64_t waves);

/// Reports whether the version that a node of `wave` should have is the new one. In a halted
/// rollout, this holds only for nodes that have moved already.
bool has_new_version(const Position& position, std::int64_t wave);

}  // namespace bunraku::rollout
