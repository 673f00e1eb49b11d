// SPDX-License-Identifier: Apache-2.0
// workspace/executeCommand: commands that run on a thread, so that the editor can go on.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "services/lsp/state.h"

namespace bunraku::lsp {

/// Commands: "bunraku.impact" and "bunraku.readers". Their first argument is the URI of a document;
/// the second one of "bunraku.readers" is the input, such as "class ntp".
inline constexpr std::string_view kImpactCommand = "bunraku.impact";
inline constexpr std::string_view kReadersCommand = "bunraku.readers";

/// Starts the command of a request. The error describes why it cannot start.
std::expected<void, RpcError> start_command(State& state, const Message& message);
/// Returns how many nodes read the inputs of the environment of a file; null if they are not
/// counted yet. Counts them on a thread if files changed.
const FleetWork::Usage* counted_usage(State& state, const std::string& path);
/// Stores the counts that are complete. Returns true if there are new ones.
bool finish_counts(State& state);
/// Reports whether a thread counts.
bool is_counting(const State& state);

/// Returns the responses of the commands that have ended.
std::vector<std::string> finished_commands(State& state);

}  // namespace bunraku::lsp
