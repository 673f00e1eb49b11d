// SPDX-License-Identifier: Apache-2.0
// Escapes text for HTML and XML, both for element content and for attribute values.
#pragma once

#include <string>
#include <string_view>

namespace bunraku::base {

inline std::string html_text(std::string_view text) {
    std::string out;
    out.reserve(text.size());
    for (const char c : text) {
        switch (c) {
            case '&': out += "&amp;"; break;
            case '<': out += "&lt;"; break;
            case '>': out += "&gt;"; break;
            case '"': out += "&quot;"; break;
            case '\'': out += "&#39;"; break;
            default: out += c;
        }
    }
    return out;
}

}  // namespace bunraku::base
