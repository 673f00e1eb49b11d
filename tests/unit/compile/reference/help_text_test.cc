// SPDX-License-Identifier: Apache-2.0
#include "compile/reference/help_text.h"

#include <gtest/gtest.h>

namespace bunraku::reference {

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
}

}  // namespace bunraku::reference
