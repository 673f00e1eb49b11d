// SPDX-License-Identifier: Apache-2.0
// Helpers for commands with actions, such as `parser validate FILE...`.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "cli/command.h"

namespace bunraku::cli {

/// Returns the action, which is the first argument, or an empty string. Sets `rest` to the
/// arguments after it.
inline std::string take_action(const std::vector<std::string>& positional,
                               std::vector<std::string>& rest) {
    if (positional.empty()) return {};
    rest.assign(positional.begin() + 1, positional.end());
    return positional.front();
}

inline std::string read_stdin() {
    std::string text;
    char buffer[65536];
    for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, stdin)) > 0;)
        text.append(buffer, n);
    return text;
}

/// Applies a catalog in the agent's JSON format and prints the report, as `puppet catalog apply`
/// does. Returns the exit code.
int apply_found_catalog(Invocation& invocation, std::string json, base::LogSink& log);

}  // namespace bunraku::cli
