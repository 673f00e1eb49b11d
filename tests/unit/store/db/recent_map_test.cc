// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <string>

#include "store/db/writer.h"

namespace bunraku::store {
namespace {

TEST(RecentMap, KeepsTheValueOfAnOldEntryThatIsFoundWhileTheYoungHalfIsFull) {
    RecentMap<int, std::string, std::hash<int>> map(4);
    const std::string value(100, 'x');
    map.put(1, value);
    map.put(2, "2");
    // The young half is full: entries 1 and 2 become the old half.
    map.put(3, "3");
    map.put(4, "4");
    const auto* found = map.find(1);
    ASSERT_TRUE(found);
    EXPECT_EQ(*found, value);
    EXPECT_LE(map.size(), 4u);
}

}  // namespace
}  // namespace bunraku::store
