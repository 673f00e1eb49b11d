// SPDX-License-Identifier: Apache-2.0
// Ruby's messages about invalid JSON.
#pragma once

#include <string>
#include <string_view>

namespace bunraku::codec {

/// Returns the message of JSON::ParserError (json 2.6.1 through multi_json): "859: unexpected token
/// at '...'". Returns `otherwise` if Ruby would accept the text, and "JSON::ParserError" if the
/// text is empty.
std::string json_error(std::string_view text, const std::string& otherwise);

/// Replaces the comments that Ruby's JSON accepts with blanks.
std::string without_json_comments(std::string_view text);

}  // namespace bunraku::codec
