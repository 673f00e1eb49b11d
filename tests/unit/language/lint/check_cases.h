// SPDX-License-Identifier: Apache-2.0
// Runs tables of cases for the checks: a text, its problems, and the text after the fix.
#pragma once

#include <span>
#include <string_view>

namespace bunraku::lint {

struct CheckCase {
    std::string_view check;
    std::string_view text;
    std::string_view problems;  ///< lines of "LINE:COLUMN KIND MESSAGE"
    std::string_view fixed;     ///< empty if the fix changes nothing
};

/// Runs each case with only its check enabled.
void run_check_cases(std::span<const CheckCase> cases);

}  // namespace bunraku::lint
