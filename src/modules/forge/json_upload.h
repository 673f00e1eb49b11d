// SPDX-License-Identifier: Apache-2.0
// Decoder for the body of an upload in JSON: {"file": "BASE64"}.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bunraku::forge {

/// Decodes the member "file" of the object in `body` in place, so that a file of many megabytes is
/// not copied. The result is valid as long as `body` is not modified. Returns nullopt if the body
/// is not a JSON object with such a member, or the member is not base64. Line breaks, as written by
/// Ruby's encode64, are skipped.
std::optional<std::string_view> unpack_json_upload(std::string& body);

}  // namespace bunraku::forge
