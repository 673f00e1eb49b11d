// SPDX-License-Identifier: Apache-2.0
// The help pages of all commands.
#include <gtest/gtest.h>

#include "cli/command.h"
#include "compile/reference/help_text.h"

namespace bunraku::cli {

using reference::help_text;

// A narrow terminal shows the same words.
TEST(CommandHelp, FewerColumns) {
    for (const Command* command : all_commands()) {
        const std::string wide = help_text(command_help(command->name));
        std::string words = wide, narrow = reference::narrowed(wide, 40);
        const auto blank = [](char c) { return c == ' ' || c == '\n'; };
        std::erase_if(words, blank);
        std::erase_if(narrow, blank);
        EXPECT_EQ(words, narrow) << command->name;
    }
}

// Every command has a help page, which contains the command's usage line.
TEST(CommandHelp, EveryCommand) {
    for (const Command* command : all_commands()) {
        const std::string text = help_text(command_help(command->name));
        EXPECT_NE(text.find("bunraku " + std::string(command->name)), std::string::npos)
            << command->name;
        EXPECT_EQ(text.find("|---"), std::string::npos) << command->name;
    }
}

}  // namespace bunraku::cli
