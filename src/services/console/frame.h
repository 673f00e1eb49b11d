// SPDX-License-Identifier: Apache-2.0
// The frame around every page: head, top bar, side bar; and pages without a visitor.
#pragma once

#include <string_view>

#include "services/console/html.h"
#include "services/console/visit.h"

namespace bunraku::console {

/// Returns a response with the page. `content` is the inside of <main>, without the title unless
/// head.heading is set.
Response framed(Visit& visit, Head head, const Markup& content);
/// Returns a page for clients without a session.
Response bare_page(int status, std::string_view title, const Markup& content);
/// Returns an error page: what is wrong, and what to do.
Response error_page(Visit& visit, int status, std::string_view title, std::string_view message);
/// Adds the headers that every response of the console has.
void secure(Response& response);

}  // namespace bunraku::console
