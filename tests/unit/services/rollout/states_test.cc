// SPDX-License-Identifier: Apache-2.0
// Explores all states that a rollout can reach.
#include "services/rollout/states.h"

#include <gtest/gtest.h>
#include <map>
#include <queue>
#include <set>
#include <tuple>

namespace bunraku::rollout {
namespace {

constexpr std::int64_t kWaves = 3;
constexpr Command kAll[] = {
    Command::Ready,       Command::Proved,   Command::Soaked, Command::Threshold, Command::GoBack,
    Command::Settled,     Command::Switched, Command::Pause,  Command::Resume,    Command::Halt,
    Command::HaltAndHold, Command::Back,     Command::Finish};

using Key = std::tuple<State, std::int64_t, std::int64_t, State, bool>;
Key key_of(const Position& p) { return {p.state, p.wave, p.moved, p.resume, p.hold}; }

/// Returns all positions that the commands lead to.
std::map<Key, Position> reachable() {
    std::map<Key, Position> seen{{key_of(Position{}), Position{}}};
    std::queue<Position> left;
    left.push(Position{});
    while (!left.empty()) {
        const Position now = left.front();
        left.pop();
        for (const Command command : kAll) {
            const auto after = next(now, command, kWaves);
            if (after && seen.emplace(key_of(*after), *after).second) left.push(*after);
        }
    }
    return seen;
}

TEST(States, NamesAreReadBack) {
    for (const auto& [key, position] : reachable())
        EXPECT_EQ(state_of(state_name(position.state)), position.state);
    EXPECT_EQ(state_of("lost"), std::nullopt);
}

TEST(States, ReachesEveryStateAndNoOther) {
    std::set<std::string_view> names;
    for (const auto& [key, position] : reachable()) names.insert(state_name(position.state));
    EXPECT_EQ(names.size(), 9u);
}

TEST(States, KeepsItsInvariants) {
    for (const auto& [key, p] : reachable()) {
        EXPECT_GE(p.moved, p.wave == 0 ? 0 : p.wave) << state_name(p.state);
        // No wave beyond the present one has the new version, unless everything gets it.
        if (p.state != State::Finishing && p.state != State::Done) {
            EXPECT_LE(p.moved, p.wave + 1);
        }
        EXPECT_TRUE(p.state == State::Halted || !p.hold);
        for (std::int64_t wave = 0; wave + 1 < kWaves; ++wave) {
            // Earlier waves never have an older version than later ones.
            EXPECT_GE(has_new_version(p, wave), has_new_version(p, wave + 1));
        }
    }
}

TEST(States, NeverMovesMoreThanOneWaveAtOnce) {
    for (const auto& [key, p] : reachable()) {
        for (const Command command : kAll) {
            const auto after = next(p, command, kWaves);
            if (!after || command == Command::Finish) continue;
            EXPECT_LE(after->moved, p.moved + 1);
            if (after->moved > p.moved) {
                EXPECT_EQ(command, Command::Ready);
            }
        }
    }
}

TEST(States, EndsFromEverywhere) {
    // From each state, an operator and the controller reach an end.
    for (const auto& [key, p] : reachable()) {
        Position now = p;
        for (int step = 0; step < 5 && !is_closed(now.state); ++step) {
            for (const Command command : {Command::Back, Command::Settled, Command::Switched}) {
                if (const auto after = next(now, command, kWaves)) {
                    now = *after;
                    break;
                }
            }
        }
        EXPECT_TRUE(is_closed(now.state)) << state_name(p.state);
    }
}

TEST(States, ClosedRolloutsStayClosed) {
    for (const State state : {State::Done, State::Returned}) {
        Position p;
        p.state = state;
        for (const Command command : kAll) EXPECT_FALSE(next(p, command, kWaves));
    }
}

TEST(States, ExplainsRefusals) {
    Position p;
    p.state = State::Returning;
    EXPECT_EQ(next(p, Command::Halt, kWaves).error().message, "The rollout is going back already");
    EXPECT_EQ(next(p, Command::Resume, kWaves).error().message,
              "A rollout that is returning cannot resume");
    p.state = State::Done;
    EXPECT_EQ(next(p, Command::Halt, kWaves).error().message, "The rollout is done");
}

TEST(States, ResumesWhereItWas) {
    Position p;
    for (const Command command : {Command::Ready, Command::Proved, Command::Pause})
        p = *next(p, command, kWaves);
    EXPECT_EQ(p.state, State::Paused);
    EXPECT_EQ(next(p, Command::Resume, kWaves)->state, State::Soaking);
    p = *next(p, Command::HaltAndHold, kWaves);
    EXPECT_FALSE(next(p, Command::GoBack, kWaves));
    EXPECT_EQ(next(p, Command::Resume, kWaves)->state, State::Moving);
    EXPECT_TRUE(has_new_version(p, 0));
    EXPECT_FALSE(has_new_version(p, 1));
}

}  // namespace
}  // namespace bunraku::rollout
