// Pieces of JSON that several routes answer with; inside this folder only.
#pragma once

#include <algorithm>
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

/// Whether a media type is this one, which is in lower case.
inline bool is_media_type(std::string_view type, std::string_view wanted) {
    return std::equal(type.begin(), type.end(), wanted.begin(), wanted.end(), [](char a, char b) {
        return (a >= 'A' && a <= 'Z' ? static_cast<char>(a + 32) : a) == b;
    });
}

/// PuppetDB looks for one of these as it stands, without weights.
inline bool accepts_json(const http::Request& request) {
    std::string_view accept = request.headers.get("Accept");
    if (accept.empty()) return true;
    while (!accept.empty()) {
        std::size_t comma = accept.find(',');
        std::string_view range = accept.substr(0, comma);
        accept = comma == std::string_view::npos ? "" : accept.substr(comma + 1);
        while (!range.empty() && range.front() == ' ') range.remove_prefix(1);
        while (!range.empty() && range.back() == ' ') range.remove_suffix(1);
        if (range == "*/*" || is_media_type(range, "application/json") ||
            is_media_type(range, "application/*")) {
            return true;
        }
    }
    return false;
}

}  // namespace bunraku::server
