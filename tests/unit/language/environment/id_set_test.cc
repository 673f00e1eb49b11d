// SPDX-License-Identifier: Apache-2.0
#include "language/environment/id_set.h"

#include <gtest/gtest.h>
#include <random>
#include <set>

namespace bunraku::environment {
namespace {

TEST(IdSet, PackRoundTrip) {
    std::mt19937 random(7);
    for (const std::uint32_t most : {1U, 64U, 1000U, 100'000U}) {
        for (const std::size_t wanted : {0U, 1U, 30U, 2000U}) {
            std::set<std::uint32_t> ids;
            IdSet set;
            for (std::size_t i = 0; i < wanted; ++i) {
                const std::uint32_t id = random() % most;
                ids.insert(id);
                set.add(id);
            }
            const auto back = IdSet::unpack(set.pack());
            std::set<std::uint32_t> seen;
            back.for_each([&](std::uint32_t id) { seen.insert(id); });
            EXPECT_EQ(seen, ids);
            EXPECT_EQ(back.size(), ids.size());
            EXPECT_TRUE(back == set);
            // The packed form needs at most two bytes per element, or the size of the bit set.
            EXPECT_LE(set.pack().size(), std::min<std::size_t>(1 + ids.size() * 3, most / 8 + 16));
        }
    }
}

TEST(IdSet, UnpackAcceptsAnyBytes) {
    std::mt19937 random(9);
    for (int round = 0; round < 2000; ++round) {
        std::string bytes(1, round % 2 == 0 ? 'g' : 'b');
        for (unsigned n = random() % 8; n > 0; --n) bytes += static_cast<char>(random() & 0x7f);
        (void)IdSet::unpack(bytes).size();
    }
}

}  // namespace
}  // namespace bunraku::environment
