// Errors of the system, of codecs and of the network are values (see diagnostic.h for the others).
#pragma once

#include <expected>
#include <string>
#include <utility>

namespace bunraku::base {

/// Why something outside the language failed. `message` is what the user reads.
struct Error {
    std::string message;
    int code = 0;  ///< errno or a protocol's status where there is one
};

template <class T = void>
using Result = std::expected<T, Error>;

inline std::unexpected<Error> failure(std::string message, int code = 0) {
    return std::unexpected(Error{std::move(message), code});
}

}  // namespace bunraku::base

/// The value of a Result, or return its error from the calling function.
#define BUNRAKU_TRY(expr)                                                           \
    ({                                                                              \
        auto bunraku_try_ = (expr);                                                 \
        if (!bunraku_try_) return std::unexpected(std::move(bunraku_try_).error()); \
        std::move(*bunraku_try_);                                                   \
    })
/// The same for Result<void>.
#define BUNRAKU_TRY_VOID(expr)                                                      \
    do {                                                                            \
        auto bunraku_try_ = (expr);                                                 \
        if (!bunraku_try_) return std::unexpected(std::move(bunraku_try_).error()); \
    } while (false)
