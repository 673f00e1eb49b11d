// SPDX-License-Identifier: Apache-2.0
#include "compile/reference/compatibility_page.h"

#include <fstream>
#include <gtest/gtest.h>
#include <sstream>

namespace bunraku::reference {
namespace {

// `bunraku help --compatibility >docs/compatibility.md` updates the page.
TEST(CompatibilityPage, IsCurrent) {
    std::ifstream file(BUNRAKU_TEST_DATA "/../docs/compatibility.md");
    std::stringstream text;
    text << file.rdbuf();
    EXPECT_EQ(text.str(), compatibility_page());
}

}  // namespace
}  // namespace bunraku::reference
