// SPDX-License-Identifier: Apache-2.0
#include "core/config/munge.h"

#include <cstdint>

#include "core/base/number.h"

namespace bunraku::config {

std::optional<std::string> duration_seconds(std::string_view text) {
    std::int64_t factor = 1;
    if (!text.empty()) {
        switch (text.back()) {
            case 'y': factor = 365LL * 86400; break;
            case 'd': factor = 86400; break;
            case 'h': factor = 3600; break;
            case 'm': factor = 60; break;
            case 's': break;
            default: factor = 0; break;
        }
    }
    if (factor != 0) {
        text.remove_suffix(text.empty() ? 0 : 1);
    } else {
        factor = 1;
    }
    if (text.starts_with('-')) return std::nullopt;
    const auto n = base::parse_integer<std::int64_t>(text);
    if (!n || *n > 1'000'000'000'000) return std::nullopt;
    return std::to_string(*n * factor);
}

std::optional<std::string> ruby_integer(std::string_view text) {
    const bool negative = text.starts_with('-');
    if (negative || text.starts_with('+')) text.remove_prefix(1);
    int base = 10;
    if (text.size() > 1 && text[0] == '0') {
        const char kind = static_cast<char>(text[1] | 0x20);
        base = kind == 'x' ? 16 : kind == 'b' ? 2 : kind == 'd' ? 10 : 8;
        const bool letter = kind == 'x' || kind == 'b' || kind == 'd' || kind == 'o';
        text.remove_prefix(letter ? 2 : 1);
    }
    std::string digits;
    for (std::size_t i = 0; i < text.size(); ++i) {
        // A single underscore is allowed between two digits.
        if (text[i] == '_' && i > 0 && i + 1 < text.size() && text[i + 1] != '_') continue;
        digits += text[i];
    }
    const auto n = base::parse_integer<std::uint64_t>(digits, base);
    if (!n || *n > INT64_MAX) return std::nullopt;
    return (negative && *n != 0 ? "-" : "") + std::to_string(*n);
}

std::optional<std::string> priority_number(std::string_view text) {
    if (text == "high") return "-10";
    if (text == "normal") return "0";
    if (text == "low") return "10";
    if (text == "idle") return "19";
    // Reads the leading digits like Ruby's to_i, if the text contains any digit.
    if (text.find_first_of("0123456789") == std::string_view::npos) return std::nullopt;
    const std::size_t sign = text.starts_with('-') ? 1 : 0;
    std::size_t end = sign;
    while (end < text.size() && text[end] >= '0' && text[end] <= '9') ++end;
    return std::to_string(base::parse_integer<int>(text.substr(0, end)).value_or(0));
}

}  // namespace bunraku::config
