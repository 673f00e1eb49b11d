// SPDX-License-Identifier: Apache-2.0
// Splits a manifest into tokens without losing a character. The rules are those of puppet-lint
// 5.1, not of the compiler: they accept code that does not compile, and positions differ inside
// strings.
#pragma once

#include <optional>
#include <string_view>

#include "language/lint/token_stream.h"

namespace bunraku::lint {

/// A place where the text cannot be split into tokens.
struct LexError {
    int line = 1, column = 1;
    std::string_view reason;  ///< may be empty
};

/// Appends the tokens of `code` to `stream`. The tokens refer to `code`, which must outlive them.
std::optional<LexError> tokenise(std::string_view code, TokenStream& stream);

}  // namespace bunraku::lint
