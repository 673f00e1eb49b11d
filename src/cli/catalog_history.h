// `catalog log`, `show`, `diff` and `drift`: what the store remembers of before.
#pragma once

#include <string>
#include <vector>

#include "cli/command.h"

namespace bunraku::cli {

struct HistoryFlags {
    std::string database, by, since;
    bool json = false;
};

bool is_history_action(const std::string& action);

/// Throws what is wrong; gives the exit code.
int run_catalog_history(Invocation& invocation, const std::string& action,
                        const std::vector<std::string>& arguments, const HistoryFlags& flags);

}  // namespace bunraku::cli
