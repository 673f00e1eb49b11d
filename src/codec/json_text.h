// Texts as JSON.
#pragma once

#include <string>
#include <string_view>

namespace bunraku::codec {

/// The text as a JSON string, quotes included. Always valid UTF-8: bytes that are not become
/// U+FFFD.
void append_json_string(std::string& out, std::string_view text);
std::string json_string(std::string_view text);

/// The first byte that is not UTF-8, or npos.
std::size_t first_invalid_utf8(std::string_view text);

}  // namespace bunraku::codec
