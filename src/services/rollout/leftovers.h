// SPDX-License-Identifier: Apache-2.0
// What a return to the version before does not undo, per node, with the command that would.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "services/rollout/judge.h"
#include "services/rollout/plan.h"

namespace bunraku::rollout {

struct Leftover {
    std::string node;
    std::string resource;  ///< "File[/etc/motd]"
    std::string what;      ///< why it stays
    bool created = false;  ///< true if a report says that the agent created it
    std::string command;   ///< shell command that undoes it; empty if only a person can decide
};

/// Returns the leftovers of one node. `runs` are its runs with the new version.
std::vector<Leftover> leftovers(const Plan& plan, const PlannedNode& node,
                                const std::vector<JudgedRun>& runs);

/// Returns the command that removes a resource, such as "rm /etc/motd", with the title quoted for a
/// shell. Empty for types that cannot be removed by a command.
std::string removal_command(std::string_view type, std::string_view title);

}  // namespace bunraku::rollout
