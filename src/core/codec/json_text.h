// Texts as JSON, and whether they are UTF-8.
#pragma once

#include <string>
#include <string_view>

namespace bunraku::codec {

/// What becomes of bytes that are no UTF-8.
enum class BadBytes { Replace, Keep };

/// The text as a JSON string, quotes included. With BadBytes::Replace it is always valid UTF-8:
/// bytes that are not become U+FFFD.
void append_json_string(std::string& out, std::string_view text, BadBytes bad = BadBytes::Replace);
std::string json_string(std::string_view text);

/// The first byte that is not UTF-8 (RFC 3629), or npos.
std::size_t first_invalid_utf8(std::string_view text);
inline bool is_utf8(std::string_view text) {
    return first_invalid_utf8(text) == std::string_view::npos;
}

}  // namespace bunraku::codec
