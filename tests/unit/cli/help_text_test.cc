#include "cli/help_text.h"

#include <gtest/gtest.h>

#include "cli/command.h"

namespace bunraku::cli {

TEST(HelpText, HeadingsAndTables) {
    EXPECT_EQ(
        help_text("# bunraku x\n\nText with `code`.\n\n## The node\n\n| option | meaning |\n"
                  "|---|---|\n"
                  "| `--a`, `-b` | short |\n"
                  "| `--merge a\\|b` | a text that is too long to stand in one line of eighty "
                  "characters |\n"
                  "| `--a-very-long-option NAME` | below |\n"),
        "bunraku x\n\nText with `code`.\n\nTHE NODE\n\n"
        "    --a, -b               short\n"
        "    --merge a|b           a text that is too long to stand in one line of eighty\n"
        "                          characters\n"
        "    --a-very-long-option NAME\n"
        "                          below\n");
}

TEST(HelpText, FewerColumns) {
    EXPECT_EQ(
        narrowed(
            "Shows what a resource type is and which attributes it takes; of a class, define,\n"
            "function, data type or fact what it says.\n\n"
            "    -l, --list            list all resource types, those of modules among\n"
            "                          them\n"
            "    -s                    short\n",
            40),
        "Shows what a resource type is and which\nattributes it takes; of a class, define,\n"
        "function, data type or fact what it\nsays.\n\n"
        "  -l, --list\n        list all resource types, those\n        of modules among them\n"
        "    -s                    short\n");
    for (const Command* command : all_commands()) {
        const std::string wide = help_text(command_help(command->name));
        std::string words = wide, narrow = narrowed(wide, 40);
        const auto blank = [](char c) { return c == ' ' || c == '\n'; };
        std::erase_if(words, blank);
        std::erase_if(narrow, blank);
        EXPECT_EQ(words, narrow) << command->name;
    }
}

// Every command has a page, and it says how the command is called.
TEST(HelpText, EveryCommand) {
    for (const Command* command : all_commands()) {
        const std::string text = help_text(command_help(command->name));
        EXPECT_NE(text.find("bunraku " + std::string(command->name)), std::string::npos)
            << command->name;
        EXPECT_EQ(text.find("|---"), std::string::npos) << command->name;
    }
}

}  // namespace bunraku::cli
