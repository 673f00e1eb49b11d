// Pieces of JSON that several routes answer with; inside this folder only.
#pragma once

#include <string>
#include <string_view>

#include "catalog/json_text.h"
#include "http/message.h"

namespace bunraku::server {

/// `text` as a string of JSON, quotes and all.
inline std::string json_text(std::string_view text) {
    std::string out;
    catalog::append_json_string(out, text);
    return out;
}

/// {"error": MESSAGE}, as PuppetDB's command and admin APIs refuse.
inline http::Response json_error(int status, std::string_view message) {
    return http::Response::json(status, "{\"error\":" + json_text(message) + "}");
}

}  // namespace bunraku::server
