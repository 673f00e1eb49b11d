// SPDX-License-Identifier: Apache-2.0
// The rules of an environment's rollouts: the file rollout.yaml in the environment's folder.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace bunraku::rollout {

/// Times of the week, in UTC, at which a wave may start.
struct Window {
    std::uint8_t days = 0;         ///< bit 0 is Sunday
    int begin = 0, end = 24 * 60;  ///< minutes after midnight; the end is not included
    bool operator==(const Window&) const = default;
};

/// A program and a query of Prometheus that judge a wave; both must be good. The program succeeds
/// with exit code 0 and fails with 1; any other result means that there is no answer. The query
/// fails if one of its values is outside of the limits, and has no answer without a value.
struct Check {
    std::vector<std::string> command;  ///< program and arguments; empty if there is none
    std::string prometheus;            ///< address of the server; empty without a query
    std::string query;
    std::optional<double> least, most;  ///< limits of the values of the query; at least one is set
    std::int64_t timeout_s = 30;
    bool empty() const { return command.empty() && prometheus.empty(); }
};

/// The members are named after the keys of the file.
struct Rules {
    /// Share of the nodes that have the new version after each wave, rising to 1.
    std::vector<double> waves{0.01, 0.1, 0.5, 1};
    std::vector<std::string> canaries;  ///< if empty, the plan chooses them
    std::int64_t canary_limit = 0;      ///< 0 means the larger of 1 and 1 % of the nodes
    std::vector<std::string> spread;    ///< facts such as "facts.os.family"
    std::vector<std::string> exclude;   ///< patterns of names that stay until the end
    std::vector<Window> windows;        ///< empty means always
    std::int64_t soak_s = 30 * 60;
    std::vector<std::int64_t> approve;  ///< numbers of waves that need an approval; canaries are 0
    bool approve_by_another = false;    ///< the starter of a rollout may not approve it
    std::int64_t proofs = 2;            ///< number of good runs that prove a node
    double proved = 0.9;                ///< share of a wave's nodes that must be proved
    std::int64_t canary_failures = 1;   ///< number of bad canaries that halts
    double failures = 0.01;             ///< share of judged nodes that halts in later waves
    std::int64_t least_failures = 2;    ///< a smaller number of bad nodes never halts there
    std::int64_t silent_after_s = 3600;
    Check check;
    bool go_back = true;  ///< "back: auto"; false for "back: ask"
    /// Types such as "File" and "Service". After a return, agents remove resources of these types
    /// that they created and that only the new version declared. Empty means `rollback: keep`.
    std::vector<std::string> rollback;
    bool observe = false;         ///< judge, but never halt
    bool agents_may_try = false;  ///< "try: agents": nodes may move themselves for a limited time
    std::string webhook;          ///< receives each event as JSON; empty if there is none

    /// Reports whether a wave may start at a time, in seconds since the epoch.
    bool open_at(std::int64_t time_s) const;
    bool needs_approval(std::int64_t wave) const;
};

/// Reads rollout.yaml. The error names the key, for example "waves: expected a percentage such as
/// 10%, not 'all'". An empty text gives the default rules.
base::Result<Rules> read_rules(std::string_view text);

}  // namespace bunraku::rollout
