// SPDX-License-Identifier: Apache-2.0
#include "core/base/arena.h"

#include <algorithm>
#include <atomic>
#include <gtest/gtest.h>
#include <thread>
#include <vector>

#include "core/base/symbol.h"

namespace bunraku::base {

TEST(Arena, LargeAllocationKeepsTheCurrentBlock) {
    Arena arena(256);
    auto small = arena.copy("abc");
    auto big = arena.copy(std::string(100000, 'x'));
    auto next = arena.copy("def");
    EXPECT_EQ(small, "abc");
    EXPECT_EQ(big.size(), 100000u);
    EXPECT_EQ(next, "def");
}

TEST(Arena, OwnedObjectsAreDestroyed) {
    int destroyed = 0;
    struct Probe {
        int* count;
        ~Probe() { ++*count; }
    };
    {
        Arena arena;
        arena.own(std::make_unique<Probe>(&destroyed));
    }
    EXPECT_EQ(destroyed, 1);
}

TEST(Arena, ThreadsShareBlocksOfDestroyedArenas) {
    std::vector<std::thread> threads;
    std::atomic<int> broken = 0;
    for (char mark = 'a'; mark < 'e'; ++mark) {
        threads.emplace_back([&broken, mark] {
            for (int round = 0; round < 20; ++round) {
                // Two blocks of the size that the arena caches.
                Arena arena(1024 * 1024);
                const auto text = arena.array<char>(900'000), more = arena.array<char>(900'000);
                std::ranges::fill(text, mark);
                std::ranges::fill(more, static_cast<char>(mark + round));
                broken += std::ranges::count(text, mark) != 900'000 ||
                          std::ranges::count(more, static_cast<char>(mark + round)) != 900'000;
            }
        });
    }
    for (auto& thread : threads) thread.join();
    EXPECT_EQ(broken, 0);
}

TEST(Symbol, EqualNamesAreOneSymbol) {
    EXPECT_EQ(Symbol::intern("abc"), Symbol::intern("abc"));
    EXPECT_FALSE(Symbol::find("never interned before"));
}

}  // namespace bunraku::base
