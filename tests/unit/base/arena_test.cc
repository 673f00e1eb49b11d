#include "base/arena.h"

#include <gtest/gtest.h>

#include "base/symbol.h"

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

TEST(Symbol, EqualNamesAreOneSymbol) {
    EXPECT_EQ(Symbol::intern("abc"), Symbol::intern("abc"));
    EXPECT_FALSE(Symbol::find("never interned before"));
}

}  // namespace bunraku::base
