// Numbers out of text from outside, the one way: all of the text or nothing, and no exceptions.
#pragma once

#include <charconv>
#include <concepts>
#include <optional>
#include <string_view>
#include <system_error>

namespace bunraku::base {

/// The whole of `text` as a number of type `T`: digits of `base` with at most a leading '-' where
/// `T` is signed. No blanks, no '+', no prefix. Nothing where it is no number or does not fit in
/// `T`.
template <std::integral T>
std::optional<T> parse_integer(std::string_view text, int base = 10) {
    T out{};
    const char* last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, out, base);
    if (error != std::errc() || end != last) return std::nullopt;
    return out;
}

/// The same into `out`: false, and zero there, where it is nothing.
template <std::integral T>
bool read_integer(std::string_view text, T& out, int base = 10) {
    const auto read = parse_integer<T>(text, base);
    out = read.value_or(T{});
    return read.has_value();
}

}  // namespace bunraku::base
