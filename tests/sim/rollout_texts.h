// SPDX-License-Identifier: Apache-2.0
// The change of a simulated rollout, and what nodes send to the store with either version.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace bunraku::sim {

/// What the new version does.
enum class Kind : std::uint8_t {
    Good,
    FailsToCompile,
    FailsOnTheNode,
    FailsOnOneOs,
    Unpredicted,
    NotIdempotent,
    KillsTheAgent,
    BreaksTheSecondRun,
};
inline constexpr std::array<std::string_view, 8> kKinds = {"good",
                                                           "fails to compile",
                                                           "fails on the node",
                                                           "fails on one OS",
                                                           "changes something unpredicted",
                                                           "not idempotent",
                                                           "kills the agent",
                                                           "breaks the second run"};

inline constexpr std::string_view kEnvironment = "production",
                                  kOld = "aaaaaaaaaaaa-0000000000000001",
                                  kNew = "bbbbbbbbbbbb-0000000000000002";

/// What a run of a node depends on.
struct RunOfNode {
    std::string_view node, os, version;
    std::string_view transaction;
    Kind kind = Kind::Good;
    bool moved = false;           ///< the run before had the other version
    bool first_ever = false;      ///< the node had no run before
    bool drifted = false;         ///< something else changed the node, which the run corrects
    bool changes_a_mode = false;  ///< for Unpredicted: the catalog shows the change
    int runs_of_version = 1;      ///< with this one
    std::int64_t started_ms = 0, now_ms = 0;
};

/// Returns the bodies of the commands that store the catalog and the report of a run.
std::string catalog_text(const RunOfNode& run);
std::string report_text(const RunOfNode& run);
/// Returns the body of a command that stores facts. `value` is the value of the only fact.
std::string facts_text(std::string_view node, std::string_view value, std::int64_t now_ms);

}  // namespace bunraku::sim
