// What Ruby's JSON says of text that is no JSON.
#pragma once

#include <string>
#include <string_view>

namespace bunraku::codec {

/// The message of JSON::ParserError (json 2.6.1 behind multi_json): "859: unexpected token at
/// '...'". `otherwise` where Ruby finds no fault; "JSON::ParserError" of a text with nothing in it.
std::string json_error(std::string_view text, const std::string& otherwise);

/// Blanks in the place of the comments that Ruby's JSON allows.
std::string without_json_comments(std::string_view text);

}  // namespace bunraku::codec
