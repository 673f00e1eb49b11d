// SPDX-License-Identifier: Apache-2.0
// Simulates a rollout: a store, servers that decide about versions, and agents. The change is good,
// or bad in one of several ways. Servers crash, reports are lost or come late and twice.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bunraku::sim {

struct RolloutOptions {
    std::uint64_t seed = 1;
    int agents = 200;
    int servers = 2;
    int interval_minutes = 30;
    bool faults = true;
    bool tell = false;  ///< print all events to standard error
    std::string place;  ///< folder for the simulated disks
};

struct RolloutFigures {
    std::uint64_t runs = 0, reports = 0, crashes = 0, refused = 0;
    std::uint64_t tries = 0, hangs = 0, steps = 0, full_disks = 0;
    std::uint64_t orders = 0, refused_orders = 0;
    std::uint64_t moved_by_bad = 0;  ///< nodes that got a bad version
    std::uint64_t most_moved = 0;    ///< the highest number in one simulation
    std::uint64_t good = 0, bad = 0;
    void add(const RolloutFigures& other);
};

/// Runs one simulation. The kind of change depends on the seed. Returns the violated invariants.
std::vector<std::string> simulate_rollout(const RolloutOptions& options, RolloutFigures& figures);

/// Returns the name of the kind of change of a seed, such as "not idempotent".
std::string_view change_of_seed(std::uint64_t seed);

}  // namespace bunraku::sim
