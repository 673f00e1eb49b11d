// Pieces of JSON that several routes answer with; inside this folder only.
#pragma once

#include <string>
#include <string_view>

#include "core/base/text.h"
#include "core/codec/json_text.h"
#include "net/http/message.h"

namespace bunraku::server {

/// {"error": MESSAGE}, as PuppetDB's command and admin APIs refuse.
inline http::Response json_error(int status, std::string_view message) {
    return http::Response::json(status, "{\"error\":" + codec::json_string(message) + "}");
}

/// Whether a media type is this one, which is in lower case.
inline bool is_media_type(std::string_view type, std::string_view wanted) {
    return base::same_ignoring_case(type, wanted);
}

/// PuppetDB looks for one of these as it stands, without weights.
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
