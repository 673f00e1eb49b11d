// SPDX-License-Identifier: Apache-2.0
// Parses JSON like Ruby's parser, including contents that Values cannot represent.
#pragma once

#include <functional>
#include <string_view>

#include "core/base/result.h"
#include "core/value/value.h"

namespace bunraku::value {

/// Makes a value from the digits of an integer beyond 64 bits.
using LargeInteger = std::function<Value(std::string_view digits)>;

/// Parses JSON like parse_json with two differences. Strings may contain bytes that are not UTF-8.
/// Integers beyond 64 bits, which parse_json rounds, become the value that `large` returns.
base::Result<Value> parse_exact_json(base::Arena& arena, std::string_view text,
                                     const LargeInteger& large);

/// Parses JSON like parse_json, but accepts the texts of editors: strings may contain bytes that
/// are not UTF-8, and half a pair of surrogates becomes U+FFFD, as does U+0000.
base::Result<Value> parse_editor_json(base::Arena& arena, std::string_view text);

}  // namespace bunraku::value
