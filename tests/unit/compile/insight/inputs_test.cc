// SPDX-License-Identifier: Apache-2.0
#include "compile/insight/inputs.h"

#include <gtest/gtest.h>

namespace bunraku::insight {
namespace {

TEST(Inputs, CopiesRootKeyFromOtherText) {
    struct Case {
        const char *text, *other, *key;
        const char* expected;  ///< null if there is nothing to replace
    };
    const Case cases[] = {
        {"a: 1\nb: 2\n", "a: 0\n", "a", "a: 0\nb: 2\n"},
        {"a: 1\nb: 2\n", "a: 0\nb: 0\n", "b", "a: 1\nb: 0\n"},
        {"a:\n- 1\n- 2\nb: 2\n", "a:\n  - 9\n", "a", "a:\n  - 9\nb: 2\n"},
        {"---\na::b: 1\n# of c\nc: 3\n", "---\na::b: 2\n", "a::b", "---\na::b: 2\n# of c\nc: 3\n"},
        {"'a::b': 1\n", "\"a::b\": 2\n", "a::b", "\"a::b\": 2\n"},
        {"a: |\n  x: 1\n\n  y\nb: 1", "a: z", "a", "a: z\nb: 1"},
        {"b: 1\n", "a: 2\nb: 0\n", "a", "b: 1\na: 2\n"},
        {"a: 1\nb: 1\n", "b: 0\n", "a", "b: 1\n"},
        {"b: 1\n", "b: 2\n", "a", nullptr},
        {"", "", "a", nullptr},
    };
    for (const auto& c : cases) {
        const auto out = with_root_key_of(c.text, c.other, c.key);
        EXPECT_EQ(out.has_value(), c.expected != nullptr) << c.text;
        if (out && c.expected) {
            EXPECT_EQ(*out, c.expected) << c.text;
        }
    }
}

TEST(Inputs, Names) {
    using environment::Read;
    const std::pair<Input, const char*> cases[] = {
        {{.path = "/e/data/common.yaml", .detail = "a::b", .kind = Read::Data, .reads = {}},
         "data/common.yaml#a::b"},
        {{.path = "/e/manifests/site.pp", .detail = "", .kind = Read::Names, .reads = {}},
         "manifests/site.pp"},
        {{.path = "/else/x", .detail = "", .kind = Read::File, .reads = {}}, "/else/x"},
        {{.path = "", .detail = "os.family", .kind = Read::Fact, .reads = {}}, "fact os.family"},
        {{.path = "", .detail = "x", .kind = Read::ServerFact, .reads = {}}, "server fact x"},
        {{.path = "", .detail = "", .kind = Read::Parameter, .reads = {}},
         "answer of the classifier"},
    };
    for (const auto& [input, expected] : cases) EXPECT_EQ(input.name("/e"), expected);
}

}  // namespace
}  // namespace bunraku::insight
