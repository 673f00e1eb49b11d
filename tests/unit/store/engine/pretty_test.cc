// SPDX-License-Identifier: Apache-2.0
// Responses of PuppetDB 7.12 with pretty=true, for JSON of all shapes.
#include <gtest/gtest.h>

#include "store/engine/query_engine.h"

namespace bunraku::store {
namespace {

TEST(Pretty, MatchesPuppetdbLayout) {
    struct {
        std::string_view compact, pretty;
    } cases[] = {
        {"[]", "[ ]"},
        {"{}", "{ }"},
        {"[ ]", "[ ]"},
        {"null", "null"},
        {R"("a, {b} [c]: \" d\\")", R"("a, {b} [c]: \" d\\")"},
        {"[1,-2.5e3,true]", "[ 1, -2.5e3, true ]"},
        {R"({"a":1})", "{\n  \"a\" : 1\n}"},
        {R"({"a":{},"b":[],"c":{"d":[1,{"e":"\\"}]}})",
         "{\n  \"a\" : { },\n  \"b\" : [ ],\n  \"c\" : {\n    \"d\" : [ 1, {\n      \"e\" : "
         "\"\\\\\"\n"
         "    } ]\n  }\n}"},
        {R"([{"a":1},{"b":2}])", "[ {\n  \"a\" : 1\n}, {\n  \"b\" : 2\n} ]"},
        // Truncated input: all of it is shown, and nothing beyond its end is read.
        {R"({"a":"x)", "{\n  \"a\" : \"x"},
        {R"("\")", R"("\")"},
        {"]}", " ]\n}"},
    };
    for (const auto& c : cases) EXPECT_EQ(pretty_json(c.compact), c.pretty) << c.compact;
}

}  // namespace
}  // namespace bunraku::store
