// SPDX-License-Identifier: Apache-2.0
// Parts of the pages about rollouts: states, verdicts, versions, and what an operator can do.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "services/console/live.h"
#include "services/console/visit.h"
#include "services/rollout/access.h"
#include "services/rollout/states.h"

namespace bunraku::console {

/// Returns the rollouts of the server. Fails with kNotFound if it has none.
base::Result<rollout::RolloutAccess*> rollouts_of(const Visit& visit);
/// Returns the rollout in the placeholder {rollout}. Fails with kNotFound if it is unknown, or if
/// the viewer may not see its environment; the two cases look the same.
base::Result<rollout::RolloutStatus> visible_rollout(const Visit& visit);

/// Returns the mark of a rollout's state, and of a node's verdict in a rollout.
State mark_of_rollout(std::string_view state);
State mark_of_verdict(std::string_view verdict);
/// Returns the word for a verdict; an empty verdict is "no verdict".
std::string_view verdict_word(std::string_view verdict);
/// Reports whether a verdict counts against the rollout.
bool is_bad_verdict(std::string_view verdict);

/// Writes the version of an environment, with a link to its commit if console.conf has the address.
void version_name(Html& h, const Visit& visit, const rollout::PlannedVersion& version);
/// Writes the share of proved, moved and bad nodes as a bar.
void wave_bar(Html& h, const rollout::WaveProgress& wave);

/// What an operator can do with a rollout.
struct RolloutAction {
    std::string_view id;  ///< in addresses and in the audit log
    std::string_view verb, done;
    std::string_view effect;                  ///< what the page says before it happens
    std::optional<rollout::Command> command;  ///< nullopt for an approval
};
std::span<const RolloutAction> rollout_actions();
/// Returns null if there is no such action.
const RolloutAction* rollout_action_of(std::string_view id);
/// Reports whether the rollout is in a state that allows the action.
bool is_possible(const RolloutAction& action, const rollout::RolloutStatus& status);

/// Returns the stamps of the live rollouts, or nullopt if the store does not answer. `access` may
/// be null.
std::optional<RolloutStamps> rollout_stamps(rollout::RolloutAccess* access);

}  // namespace bunraku::console
