// Base64 as Ruby's Base64 module has it.
#pragma once

#include <string>
#include <string_view>

#include "core/base/result.h"

namespace bunraku::codec {

enum class Base64 : unsigned char {
    Strict,   ///< one line
    Lines,    ///< a newline behind every 60 characters and at the end (RFC 2045, Ruby's encode64)
    UrlSafe,  ///< - and _ for + and /
};

std::string base64_encode(std::string_view bytes, Base64 form = Base64::Strict);
/// Strict refuses anything outside the alphabet and wrong padding ("invalid base64"); Lines skips
/// what is no base64 and never fails; UrlSafe takes either alphabet, with or without padding.
base::Result<std::string> base64_decode(std::string_view text, Base64 form = Base64::Strict);

}  // namespace bunraku::codec
