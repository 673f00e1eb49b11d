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

/// Evaluates to the value of a Result, or returns its error from the calling function.
#define BUNRAKU_TRY(expr)                                                           \
    ({                                                                              \
        auto bunraku_try_ = (expr);                                                 \
        if (!bunraku_try_) return std::unexpected(std::move(bunraku_try_).error()); \
        std::move(*bunraku_try_);                                                   \
    })
/// Does the same for Result<void>.
#define BUNRAKU_TRY_VOID(expr)                                                      \
    do {                                                                            \
        auto bunraku_try_ = (expr);                                                 \
        if (!bunraku_try_) return std::unexpected(std::move(bunraku_try_).error()); \
    } while (false)
