// SPDX-License-Identifier: Apache-2.0
// Strict conversion of text to numbers: the whole text or nothing, without exceptions.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>
#include <system_error>

namespace bunraku::base {

/// Converts the whole of `text` to a number of type `T`. Accepts digits of `base`, and one
/// leading '-' if `T` is signed, but no blanks, no '+' and no prefix. Returns nullopt if `text` is
/// not a number or does not fit in `T`.
template <std::integral T>
std::optional<T> parse_integer(std::string_view text, int base = 10) {
    T out{};
    const char* last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, out, base);
    if (error != std::errc() || end != last) return std::nullopt;
    return out;
}

/// Converts like the function above, into `out`. On failure, sets `out` to 0 and returns false.
template <std::integral T>
bool read_integer(std::string_view text, T& out, int base = 10) {
    const auto read = parse_integer<T>(text, base);
    out = read.value_or(T{});
    return read.has_value();
}

}  // namespace bunraku::base
