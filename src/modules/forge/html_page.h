// SPDX-License-Identifier: Apache-2.0
// HTML pages. Content from modules and clients is always escaped, never markup.
#pragma once

#include <string>
#include <string_view>

#include "core/base/html_text.h"
#include "net/http/message.h"

namespace bunraku::forge {

using base::html_text;
/// Returns a complete page; `body` is markup.
std::string html_page(std::string_view title, std::string_view body);
/// Returns a response whose policy forbids scripts, frames and external content.
http::Response html_response(std::string page);

}  // namespace bunraku::forge
