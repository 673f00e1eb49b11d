// SPDX-License-Identifier: Apache-2.0
// Tests the analysis of a template before it is rendered.
#include "language/template/erb.h"

#include <gtest/gtest.h>
#include <string>

namespace bunraku::templates {
namespace {

TEST(Erb, FindsVariableNames) {
    const auto made = make_erb_template({}, "<%= @a %> me@example <%# @a @b_2 %> @@c");
    std::string names;
    for (const auto name : made->names) names += std::string(name.view()) + " ";
    EXPECT_EQ(names, "a example b_2 c ");
    EXPECT_FALSE(made->all_names);
    EXPECT_TRUE(make_erb_template({}, "<%= instance_variables %>")->all_names);
}

}  // namespace
}  // namespace bunraku::templates
