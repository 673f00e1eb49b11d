// Pages for people: what comes from modules and strangers is text in them, never markup.
#pragma once

#include <string>
#include <string_view>

#include "http/message.h"

namespace bunraku::forge {

/// `text` as text and as the value of an attribute.
std::string html_text(std::string_view text);
/// A whole page; `body` is markup.
std::string html_page(std::string_view title, std::string_view body);
/// No scripts, no frames, nothing from elsewhere.
http::Response html_response(std::string page);

}  // namespace bunraku::forge
