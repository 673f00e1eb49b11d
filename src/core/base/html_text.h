// Text that stands in HTML or XML, as text or as the value of an attribute, and is never markup.
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
