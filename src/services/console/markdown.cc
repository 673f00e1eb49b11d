// SPDX-License-Identifier: Apache-2.0
#include "services/console/markdown.h"

#include <algorithm>

#include "modules/forge/markdown.h"

namespace bunraku::console {

namespace {

constexpr std::size_t kMost = 128 << 10;
constexpr char kTop = '3', kDeepest = '6';

/// Calls `use` with the position of each heading's level, in start and end tags. All other "<" are
/// escaped, so that these texts are tags.
template <class Use>
void each_heading(std::string& html, Use&& use) {
    for (auto at = html.find('<'); at != std::string::npos; at = html.find('<', at + 1)) {
        const bool end = html.compare(at, 2, "</") == 0;
        const auto level = at + (end ? 3 : 2);
        if (level + 1 >= html.size() || html[level - 1] != 'h' || html[level + 1] != '>') continue;
        if (html[level] >= '1' && html[level] <= '6') use(level, end);
    }
}

}  // namespace

Markup markdown(std::string_view text) {
    if (text.size() > kMost) text = text.substr(0, text.rfind('\n', kMost));
    auto html = forge::markdown_html(text);
    char least = kDeepest;
    each_heading(html, [&](std::size_t at, bool) { least = std::min(least, html[at]); });
    char last = kTop - 1;
    each_heading(html, [&](std::size_t at, bool end) {
        if (!end) {
            const auto wanted = static_cast<char>(html[at] - least + kTop);
            last = std::min({wanted, static_cast<char>(last + 1), kDeepest});
        }
        html[at] = last;
    });
    return Markup(std::move(html));
}

void write_markdown(Html& h, std::string_view text) {
    const auto box = h.in("div", {{"class", "md in"}, {"dir", "auto"}});
    h.raw(markdown(text));
}

}  // namespace bunraku::console
