// SPDX-License-Identifier: Apache-2.0
// The command line of Facter, for the command `facter` and for a link of that name.
#pragma once

#include <string>
#include <vector>

namespace bunraku::cli {

/// Returns Facter's exit code, which is 1 if any error was logged.
int run_facter(const std::vector<std::string>& args);

}  // namespace bunraku::cli
