// SPDX-License-Identifier: Apache-2.0
// Base64, compatible with Ruby's Base64 module.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"

namespace bunraku::codec {

enum class Base64 : unsigned char {
    Strict,   ///< one line
    Lines,    ///< a newline after every 60 characters and at the end (RFC 2045, Ruby's encode64)
    UrlSafe,  ///< - and _ in place of + and /
};

std::string base64_encode(std::string_view bytes, Base64 form = Base64::Strict);
/// Decodes base64. Strict rejects characters outside the alphabet and wrong padding ("invalid
/// base64"). Lines skips other characters and never fails. UrlSafe accepts either alphabet, with or
/// without padding.
base::Result<std::string> base64_decode(std::string_view text, Base64 form = Base64::Strict);

}  // namespace bunraku::codec
