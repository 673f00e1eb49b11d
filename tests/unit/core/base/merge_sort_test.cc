// SPDX-License-Identifier: Apache-2.0
#include "core/base/merge_sort.h"

#include <gtest/gtest.h>
#include <string>

namespace bunraku::base {
namespace {

TEST(MergeSort, IsStable) {
    std::vector<std::string> items{"b1", "a1", "b2", "a2", "c1", "a3"};
    EXPECT_TRUE(merge_sort(items, [](const std::string& a, const std::string& b) {
        return std::optional(a[0] > b[0]);
    }));
    EXPECT_EQ(items, (std::vector<std::string>{"a1", "a2", "a3", "b1", "b2", "c1"}));
}

TEST(MergeSort, KeepsAllItemsIfTheComparisonContradictsItself) {
    std::vector<int> items;
    for (int i = 0; i < 100; ++i) items.push_back(i);
    int calls = 0;
    EXPECT_TRUE(merge_sort(items, [&](int, int) { return std::optional(++calls % 3 != 0); }));
    std::ranges::sort(items);
    for (int i = 0; i < 100; ++i) EXPECT_EQ(items[static_cast<std::size_t>(i)], i);
}

TEST(MergeSort, StopsIfTheComparisonStops) {
    std::vector<int> items{3, 2, 1};
    EXPECT_FALSE(merge_sort(items, [](int, int) { return std::optional<bool>(); }));
}

}  // namespace
}  // namespace bunraku::base
