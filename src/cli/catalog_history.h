// SPDX-License-Identifier: Apache-2.0
// `catalog log`, `show`, `diff`, `drift`, `exports` and `undeclared`: what the store knows about
// catalogs.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace bunraku::cli {

struct HistoryFlags {
    std::string database, by, since;
    bool json = false, all = false, recent = false;
};

bool is_history_action(const std::string& action);

/// Runs an action and returns the exit code. Throws on errors.
int run_catalog_history(Invocation& invocation, const std::string& action,
                        const std::vector<std::string>& arguments, const HistoryFlags& flags);

}  // namespace bunraku::cli
