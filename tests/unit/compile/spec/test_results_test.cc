// SPDX-License-Identifier: Apache-2.0
#include "compile/spec/test_results.h"

#include <gtest/gtest.h>

namespace bunraku::spec {
namespace {

std::vector<TestResult> results() {
    std::vector<TestResult> out(4);
    for (auto& t : out) t.subject = "a";
    out[0].facts = "one # two";
    out[1].facts = "x<&>\"\x01";
    out[1].state = out[2].state = TestResult::State::Failed;
    out[1].problem = out[2].problem = "first\nsecond <";
    out[2].facts = "z";
    out[3].subject = "b";
    out[3].state = TestResult::State::Skipped;
    out[3].problem = "why\nmore";
    return out;
}

TEST(TestResults, Text) {
    EXPECT_EQ(
        plain_text(results(), 1.5),
        "FAILED a on x<&>\"\x01, z\n    first\n    second <\nskipped b: why\n1 passed, 2 failed, "
        "1 skipped (1.50 s)\n");
}

// A test name must not be read as a TAP directive and must stay on its line.
TEST(TestResults, Tap) {
    EXPECT_EQ(
        tap_text(results()),
        "TAP version 13\n1..4\nok 1 - a on one \\# two\nnot ok 2 - a on x<&>\"\x01\n  ---\n  "
        "message: |\n    first\n    second <\n  ...\nnot ok 3 - a on z\n  ---\n  message: |\n  "
        "  first\n    second <\n  ...\nok 4 - b # SKIP why\n");
}

TEST(TestResults, Junit) {
    const std::string text = junit_text(results(), 0);
    EXPECT_NE(text.find("name=\"bunraku test\" tests=\"4\" failures=\"2\""), std::string::npos);
    EXPECT_NE(text.find("name=\"x&lt;&amp;&gt;&quot;?\""), std::string::npos);
    EXPECT_NE(text.find("<failure message=\"first\">first\nsecond &lt;</failure>"),
              std::string::npos);
    EXPECT_NE(text.find("<skipped message=\"why\"/>"), std::string::npos);
}

}  // namespace
}  // namespace bunraku::spec
