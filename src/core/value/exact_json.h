// JSON as Ruby's parser reads it, where Values cannot hold all of it.
#pragma once

#include <functional>
#include <string_view>

#include "core/base/result.h"
#include "core/value/value.h"

namespace bunraku::value {

/// Makes a value of the digits of an integer beyond 64 bits.
using LargeInteger = std::function<Value(std::string_view digits)>;

/// Parses JSON as parse_json does, but keeps bytes in strings that are not UTF-8 and asks `large`
/// for the values of integers beyond 64 bits, which parse_json rounds.
base::Result<Value> parse_exact_json(base::Arena& arena, std::string_view text,
                                     const LargeInteger& large);

}  // namespace bunraku::value
