// What a function gives back may look into what it was given: clang warns (-Wdangling) where that
// is a temporary, and CI takes it for an error.
#pragma once

#if defined(__clang__)
/// Behind a parameter (or a member function's parentheses): the result is a view of it.
#define BUNRAKU_LIFETIMEBOUND [[clang::lifetimebound]]
#else
#define BUNRAKU_LIFETIMEBOUND
#endif
