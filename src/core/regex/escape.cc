// SPDX-License-Identifier: Apache-2.0
#include "core/regex/escape.h"

namespace bunraku::regex {

std::string escape(std::string_view text) {
    std::string out;
    for (const char c : text) {
        switch (c) {
            case '\n': out += "\\n"; break;
            case '\t': out += "\\t"; break;
            case '\r': out += "\\r"; break;
            case '\f': out += "\\f"; break;
            case '\v': out += "\\v"; break;
            default:
                if (std::string_view("[]{}()|-*.\\?+^$# ").find(c) != std::string_view::npos)
                    out += '\\';
                out += c;
        }
    }
    return out;
}

}  // namespace bunraku::regex
