// SPDX-License-Identifier: Apache-2.0
// JSON helpers that several routes use. For use inside this folder only.
#pragma once

#include <string>
#include <string_view>

#include "core/base/text.h"
#include "core/codec/json_text.h"
#include "net/http/message.h"

namespace bunraku::server {

/// Returns {"error": MESSAGE}, the error format of PuppetDB's command and admin APIs.
inline http::Response json_error(int status, std::string_view message) {
    return http::Response::json(status, "{\"error\":" + codec::json_string(message) + "}");
}

/// Reports whether a media type equals `wanted`, which must be in lower case.
inline bool is_media_type(std::string_view type, std::string_view wanted) {
    return base::same_ignoring_case(type, wanted);
}

/// Reports whether the client accepts JSON. Like PuppetDB, searches for one of these texts and
/// ignores weights.
inline bool accepts_json(const http::Request& request) {
    std::string_view accept = request.headers.get("Accept");
    if (accept.empty()) return true;
    while (!accept.empty()) {
        std::size_t comma = accept.find(',');
        std::string_view range = accept.substr(0, comma);
        accept = comma == std::string_view::npos ? "" : accept.substr(comma + 1);
        range = base::trim(range, " ");
        if (range == "*/*" || is_media_type(range, "application/json") ||
            is_media_type(range, "application/*")) {
            return true;
        }
    }
    return false;
}

}  // namespace bunraku::server
