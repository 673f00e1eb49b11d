// SPDX-License-Identifier: Apache-2.0
// Writes texts as JSON, and validates UTF-8.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bunraku::codec {

/// How bytes that are not UTF-8 are written.
enum class BadBytes { Replace, Keep };

/// Appends the text as a JSON string, including the quotes. With BadBytes::Replace, invalid bytes
/// become U+FFFD, so that the result is always valid UTF-8.
void append_json_string(std::string& out, std::string_view text, BadBytes bad = BadBytes::Replace);
std::string json_string(std::string_view text);
/// Appends an array of strings.
void append_json_strings(std::string& out, const std::vector<std::string>& items);

/// Returns the position of the first byte that is not UTF-8 (RFC 3629), or npos.
std::size_t first_invalid_utf8(std::string_view text);
inline bool is_utf8(std::string_view text) {
    return first_invalid_utf8(text) == std::string_view::npos;
}

}  // namespace bunraku::codec
