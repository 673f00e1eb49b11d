// SPDX-License-Identifier: Apache-2.0
// Errors of the system, of codecs and of the network, which are values (see diagnostic.h for the
// others).
#pragma once

#include <expected>
#include <string>
#include <utility>

namespace bunraku::base {

/// The reason why an operation outside the language failed. `message` is shown to the user.
struct Error {
    std::string message;
    int code = 0;  ///< errno or a protocol's status, if there is one
};

template <class T = void>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> failure(std::string message, int code = 0) {
    return std::unexpected(Error{std::move(message), code});
}

}  // namespace bunraku::base

// Each use has a name of its own, because an expression may contain another use.
#define BUNRAKU_PASTE_NAME(a, b) a##b
#define BUNRAKU_NAME(a, b) BUNRAKU_PASTE_NAME(a, b)
#define BUNRAKU_TRY_AS(name, expr)                                  \
    ({                                                              \
        auto name = (expr);                                         \
        if (!name) return std::unexpected(std::move(name).error()); \
        std::move(*name);                                           \
    })
#define BUNRAKU_TRY_VOID_AS(name, expr)                             \
    do {                                                            \
        auto name = (expr);                                         \
        if (!name) return std::unexpected(std::move(name).error()); \
    } while (false)

/// Evaluates to the value of a Result, or returns its error from the calling function.
#define BUNRAKU_TRY(expr) BUNRAKU_TRY_AS(BUNRAKU_NAME(bunraku_try_, __COUNTER__), expr)
/// Does the same for Result<void>.
#define BUNRAKU_TRY_VOID(expr) BUNRAKU_TRY_VOID_AS(BUNRAKU_NAME(bunraku_try_, __COUNTER__), expr)
