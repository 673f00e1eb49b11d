// SPDX-License-Identifier: Apache-2.0
#include "core/base/shown_url.h"

#include <algorithm>

namespace bunraku::base {

std::string shown_url(std::string_view url) {
    const std::size_t scheme = url.find("://");
    const std::size_t begin = scheme == std::string_view::npos ? 0 : scheme + 3;
    const std::size_t end = url.find_first_of("/?#", begin);
    const std::size_t at = url.substr(0, end).rfind('@');
    if (at == std::string_view::npos || at < begin) return std::string(url);
    const std::size_t colon = url.substr(0, at).find(':', begin);
    const std::size_t secret = colon == std::string_view::npos ? begin : colon + 1;
    return std::string(url.substr(0, secret)) + "***" + std::string(url.substr(at));
}

std::string shown_text(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        // A URL ends at the first character that a URL cannot contain; git puts quotes around URLs.
        const std::size_t begin = text.find("://");
        const std::size_t end =
            begin == std::string_view::npos ? text.size() : text.find_first_of(" \t\n'\"", begin);
        if (begin == std::string_view::npos) {
            out += text;
        } else {
            out += text.substr(0, begin);
            out += shown_url(text.substr(begin, end - begin));
        }
        text.remove_prefix(std::min(end, text.size()));
    }
    return out;
}

}  // namespace bunraku::base
