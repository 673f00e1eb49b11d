// SPDX-License-Identifier: Apache-2.0
// The plan of a rollout: the file that `rollout plan` writes, people review, and `rollout start`
// sends to the server.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "services/rollout/rules.h"

namespace bunraku::rollout {

inline constexpr std::int64_t kPlanVersion = 1;

/// A version of the environment, and the digest of all its files.
struct PlannedVersion {
    std::string version;  ///< name of its folder
    std::string commit;
    std::string files;  ///< empty if the version has no manifest
};

/// A change that several nodes share. Names and addresses of the nodes are "%{facts...}".
struct PlannedGroup {
    std::string kind;  ///< as in `impact --json`
    std::string reference, parameter;
    std::string file;  ///< where the resource is declared
    /// Values before and after; digests if they are Sensitive.
    std::string before, after;
    std::vector<std::string> because;
};

struct PlannedNode {
    std::string name;
    std::string verdict;                ///< as in `impact --json`
    std::vector<std::uint32_t> groups;  ///< indexes into Plan::groups
    std::int64_t wave = 0;
    /// Values behind the placeholders that its groups contain.
    std::map<std::string, std::string> identity;

    /// Reports whether the runs of the node say something about the change. Nodes that could not
    /// be examined count as touched.
    bool touched() const {
        return verdict != "untouched" && verdict != "same" && verdict != "fails as before";
    }
};

/// A node that stays as it is until the rollout finishes, or whose result cannot be predicted.
struct PlannedException {
    std::string name, why;
};

struct Plan {
    std::string program;    ///< version of the program that wrote it
    std::int64_t made = 0;  ///< when it read the facts, in milliseconds since the epoch, or 0
    std::string environment;
    PlannedVersion from, to;
    std::string rules_text;  ///< text of the new version's rollout.yaml; may be empty
    Rules rules;             ///< the same, parsed
    std::vector<PlannedGroup> groups;
    std::vector<PlannedNode> nodes;  ///< sorted by name
    std::vector<std::string> waves;  ///< names such as "canary" and "10 %"; at least one
    std::vector<PlannedException> excluded, unpredictable;
    std::vector<std::string> uncovered;  ///< kinds of change that no canary has
    std::vector<std::string> notes;
};

/// Returns the plan as JSON, one line for each node and group.
std::string plan_text(const Plan& plan);
/// Reads a plan. The error names the member, for example "nodes[3].wave: expected a number".
base::Result<Plan> read_plan(std::string_view text);
/// Returns the identity of a plan's text.
std::string plan_digest(std::string_view text);

/// Returns a text with the placeholders of the node replaced by its values.
std::string with_identity(std::string_view text, const PlannedNode& node);

}  // namespace bunraku::rollout
