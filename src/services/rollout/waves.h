// SPDX-License-Identifier: Apache-2.0
// Chooses the canaries and the waves of a rollout.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "services/rollout/rules.h"

namespace bunraku::rollout {

/// A node that the change touches.
struct Candidate {
    std::string name;
    std::vector<std::uint32_t> kinds;  ///< numbers of the kinds of change that the node has
    std::string stratum;               ///< its values of the facts in `spread`
    bool late = false;  ///< it has not reported lately, so others are better canaries
    /// It has not reported for so long that it may be switched off. As a canary, it would hold the
    /// rollout for ever.
    bool silent = false;
};

/// Returns the indexes of the canaries: those that the rules name, or the smallest set that a
/// greedy search finds so that each kind of change occurs, within the limit of the rules. `seed`
/// decides between nodes that are equally good, so that another rollout has other canaries. A
/// silent node is a canary only if the rules name it, or if all nodes are silent.
std::vector<std::size_t> choose_canaries(const std::vector<Candidate>& nodes, const Rules& rules,
                                         std::string_view seed);

/// Returns the kinds of change that none of the canaries has, sorted.
std::vector<std::uint32_t> uncovered_kinds(const std::vector<Candidate>& nodes,
                                           const std::vector<std::size_t>& canaries);

/// The result: the wave of each node, and the names of the waves. Wave 0 has the canaries.
struct Waves {
    std::vector<std::int64_t> wave;
    std::vector<std::string> names;
};
/// Distributes the nodes. Each wave has nearly the same share of each stratum. The order of
/// `nodes` does not matter. Waves without a node are left out.
Waves make_waves(const std::vector<Candidate>& nodes, const std::vector<std::size_t>& canaries,
                 const Rules& rules, std::string_view seed);

}  // namespace bunraku::rollout
