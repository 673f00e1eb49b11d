// SPDX-License-Identifier: Apache-2.0
// Checks of preconditions and invariants. They guard against errors in the program, never against
// bad input.
#pragma once

namespace bunraku::base {

/// Prints the condition and its location on standard error, and aborts.
[[noreturn, gnu::cold]] void assertion_failed(const char* condition, const char* file, int line);

}  // namespace bunraku::base

/// Aborts if the condition is false, in release builds too. For conditions without which the
/// program would corrupt data.
#define BUNRAKU_ALWAYS_ASSERT(...)  \
    (static_cast<bool>(__VA_ARGS__) \
         ? void()                   \
         : ::bunraku::base::assertion_failed(#__VA_ARGS__, __FILE__, __LINE__))

/// Aborts if the condition is false, in debug, sanitizer and fuzz builds and where
/// BUNRAKU_ASSERTIONS is defined. Other builds do not evaluate the condition.
#if !defined(NDEBUG) || defined(BUNRAKU_ASSERTIONS)
#define BUNRAKU_ASSERT(...) BUNRAKU_ALWAYS_ASSERT(__VA_ARGS__)
#else
#define BUNRAKU_ASSERT(...) static_cast<void>(sizeof(static_cast<bool>(__VA_ARGS__)))
#endif
