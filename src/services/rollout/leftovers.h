// SPDX-License-Identifier: Apache-2.0
// Lists, for each node, what a return to the previous version does not undo, with the command that
// would undo it.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "services/rollout/judge.h"
#include "services/rollout/plan.h"
#include "services/rollout/version_table.h"
#include "store/engine/undeclared.h"

namespace bunraku::rollout {

struct Leftover {
    std::string node;
    std::string resource;  ///< "File[/etc/motd]"
    std::string what;      ///< why it stays
    bool created = false;  ///< true if a report says that the agent created it
    std::string command;   ///< shell command that undoes it; empty if only a person can decide
};

/// The parameters of a resource whose values are texts.
using DeclaredParameters = std::map<std::string, std::string, std::less<>>;

/// Returns the leftovers of one node, without commands. `runs` are its runs with the new version.
std::vector<Leftover> leftovers(const Plan& plan, const PlannedNode& node,
                                const std::vector<JudgedRun>& runs);

/// Returns the command that removes a resource, such as "rm '/etc/motd'". Empty for types that
/// cannot be removed by a command.
std::string removal_command(std::string_view type, std::string_view title,
                            const DeclaredParameters& parameters);

/// Returns the members whose nodes may have run with the new version, bad ones first, then by name.
base::Result<std::vector<store::RolloutMember>> moved_members(store::Database& db,
                                                              const store::RolloutRow& row);

/// Returns the leftovers of these members with their commands. `versions` are the nodes of the
/// environment that have another version than its base.
base::Result<std::vector<Leftover>> read_leftovers(store::Database& db,
                                                   const store::RolloutRow& row, const Plan& plan,
                                                   std::span<const store::RolloutMember> members,
                                                   const ByText<store::NodeVersion>& versions);

/// Returns the resources that the agent of a node is to remove after a return with `rollback:
/// remove`. These are the resources that only the new version declared, that the agent created
/// according to a report, and that the newest catalog of the node does not declare.
base::Result<std::vector<store::UndeclaredResource>> read_removals(store::Database& db,
                                                                   const store::RolloutRow& row,
                                                                   const Plan& plan,
                                                                   const std::string& certname);

}  // namespace bunraku::rollout
