// What the build generates out of the cmd_*.cc and cmd_*.md files that exist.
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
