// GET /: what a person who opens the server in a browser is told.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "net/http/router.h"

namespace bunraku::server {

/// A page that says which APIs of `roles` are where. Nothing in it is about nodes or settings: it
/// is for everybody, as /status/v1 is.
void mount_front_page(http::Router& router, std::vector<std::string> roles,
                      std::string_view version);

}  // namespace bunraku::server
