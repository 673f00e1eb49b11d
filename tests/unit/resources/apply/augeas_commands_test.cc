// SPDX-License-Identifier: Apache-2.0
// Tests how the commands of the type augeas are parsed, compared with augeas_core 2.0.1.
#include <gtest/gtest.h>

#include "core/base/diagnostic.h"
#include "resources/apply/types/augeas/commands.h"

namespace bunraku::apply {
namespace {

std::string parsed(const std::string& line, std::string_view context = "/files/x") {
    try {
        std::string out;
        for (const AugeasCommand& command : parse_augeas_commands({&line, 1}, context))
            out += inspect_texts(command);
        return out;
    } catch (const base::PuppetError& e) {
        return e.message();
    }
}

TEST(AugeasCommands, Lines) {
    EXPECT_EQ(parsed("  set a/b  c d "), R"(["set", "/files/x/a/b", "c"])");
    EXPECT_EQ(parsed(R"(set /a[. = "x y"]/b/ "it's \"so\" \n")"),
              R"(["set", "/a[. = \"x y\"]/b", "it's \"so\" \\n"])");
    EXPECT_EQ(parsed(R"(set 'a b' '')"), R"(["set", "/files/x/a b", ""])");
    EXPECT_EQ(parsed(R"(set a\ b[x[y]] c)"), R"(["set", "/files/x/a\\ b[x[y]]", "c"])");
    EXPECT_EQ(parsed("set $v/a c", "/files/x/"), R"(["set", "$v/a", "c"])");
    EXPECT_EQ(parsed("set b c", "/files/x/"), R"(["set", "/files/x/b", "c"])");
    EXPECT_EQ(parsed("rm", ""), R"(["rm", ""])");
    EXPECT_EQ(parsed("mv é/a ü/b"), R"(["mv", "/files/x/é/a", "/files/x/ü/b"])");
    EXPECT_EQ(parsed("get a >= 5 6"), R"(["get", "/files/x/a", ">=", "5"])");
    EXPECT_EQ(parsed("match a size == 12x"), R"(["match", "/files/x/a", "size == 12x"])");
    EXPECT_EQ(parsed("size == 12x"), R"(["size", "==", "12"])");
    EXPECT_EQ(parsed("defnode n a[last()+1] v"),
              R"(["defnode", "n", "/files/x/a[last()+1]", "v"])");
    EXPECT_EQ(parsed(" \t"), "");
    EXPECT_EQ(parsed("frob x"), "Unknown command frob");
    EXPECT_EQ(parsed("-"), "Unknown command ");
    EXPECT_EQ(parsed("rm a]"), "unmatched [");
    EXPECT_EQ(parsed("set '"), "missing path argument 1 for set");
    EXPECT_EQ(parsed("setm a b"), "missing string argument 3 for setm");
    EXPECT_EQ(parsed("get a ~ b"), "invalid comparator for command get");
    EXPECT_EQ(parsed("set a 'never closed"), R"(["set", "/files/x/a", "never closed"])");
    EXPECT_EQ(parsed("set a[ never closed"), "missing string argument 2 for set");
}

TEST(AugeasCommands, Arrays) {
    const auto array = [](std::string_view text) -> std::string {
        try {
            return inspect_texts(parse_augeas_array(text));
        } catch (const base::PuppetError& e) {
            return e.message();
        }
    };
    EXPECT_EQ(array(" [ 'a' , \"b\\n\\x41\\101\\u00e9\\u{e9 41}\" ] "), R"(["a", "b\nAAééA"])");
    EXPECT_EQ(array("[]"), "[]");
    EXPECT_EQ(array(R"(['it\'s \\'])"), R"(["it's \\"])");
    EXPECT_EQ(array("['a'"), "Unexpected character in array at: ");
    EXPECT_EQ(array("['a'] x"), "Unexpected character in array at: x");
    EXPECT_EQ(array("a"), "Unexpected character in array at: a");
    EXPECT_EQ(array(R"(["\q"])").substr(0, 31), "Unexpected character in array a");
}

}  // namespace
}  // namespace bunraku::apply
