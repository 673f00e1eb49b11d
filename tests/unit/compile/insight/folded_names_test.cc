// SPDX-License-Identifier: Apache-2.0
#include "compile/insight/folded_names.h"

#include <gtest/gtest.h>

namespace bunraku::insight {
namespace {

TEST(FoldedNames, SortsNaturallyAndFoldsRuns) {
    struct {
        std::vector<std::string> names;
        std::string shown;
    } cases[] = {
        {{}, ""},
        {{"a"}, "a"},
        {{"web10", "web2", "web1"}, "web[1-2,10]"},
        {{"web1.example.org", "web3.example.org", "web2.example.org", "db"},
         "db, web[1-3].example.org"},
        {{"web08", "web09", "web10", "web11"}, "web[08-11]"},
        {{"web8", "web9", "web10"}, "web[8-10]"},
        {{"web1", "web01"}, "web1, web01"},
        {{"dc1-web1", "dc1-web2", "dc2-web1", "dc2-web2"}, "dc1-web[1-2], dc2-web[1-2]"},
        {{"n1-a", "n2-b"}, "n1-a, n2-b"},
        {{"b", "a", "B"}, "B, a, b"},
    };
    for (const auto& c : cases) EXPECT_EQ(folded_names(c.names, 100), c.shown);
}

TEST(FoldedNames, CountsNamesBeyondTheLimit) {
    EXPECT_EQ(folded_names({"a1", "a2", "b", "c1", "c2", "c3"}, 2), "a[1-2], b and 3 more");
    EXPECT_EQ(folded_names({"a", "b"}, 0), " and 2 more");
}

}  // namespace
}  // namespace bunraku::insight
