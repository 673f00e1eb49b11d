// SPDX-License-Identifier: Apache-2.0
// Tables that the build generates from the existing cmd_*.cc and cmd_*.md files.
#pragma once

#include <span>
#include <string_view>

#include "cli/command.h"

namespace bunraku::cli {

struct HelpText {
    std::string_view name, text;
};
std::span<const HelpText> help_texts();

}  // namespace bunraku::cli
