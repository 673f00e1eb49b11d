// The command line of Facter, for the command and for a link of that name.
#pragma once

#include <string>
#include <vector>

namespace bunraku::cli {

/// Gives Facter's exit code: 1 where anything was logged as an error.
int run_facter(const std::vector<std::string>& args);

}  // namespace bunraku::cli
