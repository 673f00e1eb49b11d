// Pages for people: what comes from modules and strangers is text in them, never markup.
#pragma once

#include <string>
#include <string_view>

#include "core/base/html_text.h"
#include "net/http/message.h"

namespace bunraku::forge {

using base::html_text;
/// A whole page; `body` is markup.
std::string html_page(std::string_view title, std::string_view body);
/// No scripts, no frames, nothing from elsewhere.
http::Response html_response(std::string page);

}  // namespace bunraku::forge
