// SPDX-License-Identifier: Apache-2.0
// Numeric operators, functions, conversions, formats and times at the borders of 64 bits, with the
// results of Puppet (numbers.txt). Puppet's integers have any size, and a Value has 64 bits. Where
// Puppet's result is larger, the result must be an error and never another number.
#include <fstream>
#include <gtest/gtest.h>
#include <string>

#include "core/base/number.h"
#include "language/evaluator/interpreter.h"
#include "language/function/table.h"
#include "language/syntax/parser.h"

namespace bunraku::function {
namespace {

/// Returns the value of an expression as text, or "!!" and the error without its place.
std::string value_or_error(const std::string& expression) {
    base::Arena arena;
    base::NullSink log;
    evaluator::Interpreter in(arena, log, builtin_functions(), {},
                              {.strict = evaluator::Strict::Error});
    std::string out;
    try {
        const auto tree = syntax::parse(
            "", "$min = Integer('-9223372036854775808')\nString((" + expression + "), '%p')");
        out = in.evaluate_program(*tree->program, in.top_scope()).as_string();
    } catch (const base::PuppetError& error) {
        out = "!! " + error.full_text();
        if (const auto at = out.find("Evaluation Error: "); at == 3) out.erase(at, 18);
        for (std::size_t at; (at = out.find(" (line: ")) != std::string::npos;)
            out.erase(at, out.find(')', at) + 1 - at);
    }
    for (std::size_t at; (at = out.find('\n')) != std::string::npos;) out.replace(at, 1, "\\n");
    return out;
}

bool is_large_integer(std::string_view text) {
    const bool digits =
        text.find_first_not_of("0123456789", text.starts_with('-') ? 1 : 0) == text.npos;
    return digits && !base::parse_integer<std::int64_t>(text);
}

TEST(Numbers, AtTheBordersOf64Bits) {
    std::ifstream file(BUNRAKU_TEST_DATA "/unit/language/function/numbers.txt");
    ASSERT_TRUE(file.is_open());
    int compared = 0, large = 0;
    for (std::string line; std::getline(file, line);) {
        const auto tab = line.find('\t');
        if (line.empty() || line[0] == '#' || tab == std::string::npos) continue;
        const std::string expression = line.substr(0, tab), expected = line.substr(tab + 1);
        const std::string got = value_or_error(expression);
        if (is_large_integer(expected)) {
            EXPECT_TRUE(got.starts_with("!! ")) << expression << " is " << got;
            ++large;
        } else {
            EXPECT_EQ(got, expected) << expression;
            ++compared;
        }
    }
    EXPECT_GT(compared, 500);
    EXPECT_GT(large, 50);
}

}  // namespace
}  // namespace bunraku::function
