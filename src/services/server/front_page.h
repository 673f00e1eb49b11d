// SPDX-License-Identifier: Apache-2.0
// GET /: the page for users who open the server in a browser.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "net/http/router.h"

namespace bunraku::server {

/// Adds a page that lists the APIs of `roles`. It is public like /status/v1, so it contains no
/// information about nodes or settings.
void mount_front_page(http::Router& router, std::vector<std::string> roles,
                      std::string_view version);

}  // namespace bunraku::server
