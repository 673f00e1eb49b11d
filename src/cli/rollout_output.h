// SPDX-License-Identifier: Apache-2.0
// Rollouts as text for terminals.
#pragma once

#include <string>

#include "core/value/value.h"

namespace bunraku::cli {

/// Returns one line for each rollout of the API's list.
std::string rollout_list_text(const value::Value& list);
/// Returns the state and the waves of a rollout.
std::string rollout_text(const value::Value& rollout);
/// Returns the nodes that count against the rollout.
std::string rollout_nodes_text(const value::Value& nodes);
std::string rollout_events_text(const value::Value& events);
std::string rollout_leftovers_text(const value::Value& leftovers);
/// Returns the first leftovers under a heading, or nothing if there are none.
std::string rollout_leftovers_summary(const value::Value& leftovers);

}  // namespace bunraku::cli
