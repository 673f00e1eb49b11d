// The body of an upload in JSON: {"file": "BASE64"}.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bunraku::forge {

/// Decodes the member "file" of the object in `body`. The bytes take the place of the text in
/// `body` and live as long as it is not touched: of a file of many megabytes there is one copy.
/// nullopt: no JSON object with such a member, or no base64 (line breaks are skipped, as Ruby's
/// encode64 makes them).
std::optional<std::string_view> unpack_json_upload(std::string& body);

}  // namespace bunraku::forge
