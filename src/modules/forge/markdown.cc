// SPDX-License-Identifier: Apache-2.0
#include "modules/forge/markdown.h"

#include <algorithm>
#include <fmt/format.h>
#include <limits>
#include <md4c.h>

#include "core/base/text.h"
#include "modules/forge/html_page.h"

namespace bunraku::forge {

namespace {

/// Maximum depth of nested blocks that are shown as nested. A browser lays out deeper ones badly.
constexpr int kMaxDepth = 64;

/// Writes the blocks and spans that md4c reports.
class Renderer {
public:
    std::string html;

    void enter_block(MD_BLOCKTYPE type, void* detail) {
        if (is_container(type) && ++depth_ > kMaxDepth) return;
        if (type != MD_BLOCK_DOC && type != MD_BLOCK_TD && type != MD_BLOCK_TH) begin_line();
        switch (type) {
            case MD_BLOCK_QUOTE: html += "<blockquote>\n"; break;
            case MD_BLOCK_UL: html += "<ul>\n"; break;
            case MD_BLOCK_OL: {
                const auto start = static_cast<MD_BLOCK_OL_DETAIL*>(detail)->start;
                html += start == 1 ? "<ol>\n" : fmt::format("<ol start=\"{}\">\n", start);
                break;
            }
            case MD_BLOCK_LI: html += "<li>"; break;
            case MD_BLOCK_HR: html += "<hr>\n"; break;
            case MD_BLOCK_H:
                html += fmt::format("<h{}>", static_cast<MD_BLOCK_H_DETAIL*>(detail)->level);
                break;
            case MD_BLOCK_CODE: html += "<pre><code>"; break;
            case MD_BLOCK_P: html += "<p>"; break;
            case MD_BLOCK_TABLE: html += "<table>"; break;
            case MD_BLOCK_TR: html += "<tr>"; break;
            case MD_BLOCK_TH: html += "<th>"; break;
            case MD_BLOCK_TD: html += "<td>"; break;
            default: break;
        }
    }
    void leave_block(MD_BLOCKTYPE type, void* detail) {
        if (is_container(type) && depth_-- > kMaxDepth) return;
        switch (type) {
            case MD_BLOCK_QUOTE: html += "</blockquote>\n"; break;
            case MD_BLOCK_UL: html += "</ul>\n"; break;
            case MD_BLOCK_OL: html += "</ol>\n"; break;
            case MD_BLOCK_LI: html += "</li>\n"; break;
            case MD_BLOCK_H:
                html += fmt::format("</h{}>\n", static_cast<MD_BLOCK_H_DETAIL*>(detail)->level);
                break;
            case MD_BLOCK_CODE: html += "</code></pre>\n"; break;
            case MD_BLOCK_P: html += "</p>\n"; break;
            case MD_BLOCK_TABLE: html += "</table>\n"; break;
            case MD_BLOCK_TR: html += "</tr>\n"; break;
            case MD_BLOCK_TH: html += "</th>"; break;
            case MD_BLOCK_TD: html += "</td>"; break;
            default: break;
        }
    }
    void enter_span(MD_SPANTYPE type, void* detail) {
        switch (type) {
            case MD_SPAN_EM: html += "<em>"; break;
            case MD_SPAN_STRONG: html += "<strong>"; break;
            case MD_SPAN_CODE: html += "<code>"; break;
            case MD_SPAN_DEL: html += "<del>"; break;
            case MD_SPAN_A: enter_link(static_cast<MD_SPAN_A_DETAIL*>(detail)->href); break;
            case MD_SPAN_IMG:
                enter_link(static_cast<MD_SPAN_IMG_DETAIL*>(detail)->src);
                image_begin_ = html.size();
                break;
            default: break;
        }
    }
    void leave_span(MD_SPANTYPE type) {
        switch (type) {
            case MD_SPAN_EM: html += "</em>"; break;
            case MD_SPAN_STRONG: html += "</strong>"; break;
            case MD_SPAN_CODE: html += "</code>"; break;
            case MD_SPAN_DEL: html += "</del>"; break;
            case MD_SPAN_A: leave_link(); break;
            case MD_SPAN_IMG:
                if (html.size() == image_begin_) html += "image";
                leave_link();
                break;
            default: break;
        }
    }
    void text(MD_TEXTTYPE type, std::string_view text) {
        switch (type) {
            case MD_TEXT_NULLCHAR: html += "\xEF\xBF\xBD"; break;
            case MD_TEXT_BR: html += "<br>\n"; break;
            case MD_TEXT_SOFTBR: html += '\n'; break;
            // A character reference of HTML, such as "&lt;".
            case MD_TEXT_ENTITY: html += text; break;
            default: html += html_text(text); break;
        }
    }

private:
    static bool is_container(MD_BLOCKTYPE type) {
        return type == MD_BLOCK_QUOTE || type == MD_BLOCK_UL || type == MD_BLOCK_OL ||
               type == MD_BLOCK_LI;
    }
    /// Ends the text of a list item before a block inside the item.
    void begin_line() {
        if (!html.empty() && !html.ends_with('\n') && !html.ends_with("<li>") &&
            !html.ends_with("<table>"))
            html += '\n';
    }
    /// Opens a link, unless it leads to something other than http(s) or is inside a link.
    void enter_link(const MD_ATTRIBUTE& target) {
        const std::string_view url(target.text, target.size);
        const auto scheme = base::lower(url.substr(0, 8));
        const bool followed = scheme.starts_with("http://") || scheme.starts_with("https://");
        links_.push_back(followed && std::ranges::find(links_, true) == links_.end());
        if (!links_.back()) return;
        html += "<a href=\"" + html_text(url) + "\" rel=\"nofollow noopener\">";
    }
    void leave_link() {
        if (links_.back()) html += "</a>";
        links_.pop_back();
    }

    int depth_ = 0;
    std::size_t image_begin_ = 0;
    std::vector<bool> links_;  ///< the open links and images; true for those that have a tag
};

Renderer& renderer(void* data) { return *static_cast<Renderer*>(data); }

}  // namespace

std::string markdown_html(std::string_view text) {
    MD_PARSER parser{};
    parser.flags = MD_FLAG_NOHTML | MD_FLAG_TABLES | MD_FLAG_STRIKETHROUGH |
                   MD_FLAG_PERMISSIVEURLAUTOLINKS | MD_FLAG_PERMISSIVEATXHEADERS;
    parser.enter_block = [](MD_BLOCKTYPE type, void* detail, void* data) {
        renderer(data).enter_block(type, detail);
        return 0;
    };
    parser.leave_block = [](MD_BLOCKTYPE type, void* detail, void* data) {
        renderer(data).leave_block(type, detail);
        return 0;
    };
    parser.enter_span = [](MD_SPANTYPE type, void* detail, void* data) {
        renderer(data).enter_span(type, detail);
        return 0;
    };
    parser.leave_span = [](MD_SPANTYPE type, void*, void* data) {
        renderer(data).leave_span(type);
        return 0;
    };
    parser.text = [](MD_TEXTTYPE type, const MD_CHAR* bytes, MD_SIZE size, void* data) {
        renderer(data).text(type, {bytes, size});
        return 0;
    };
    Renderer out;
    const auto size = std::min<std::size_t>(text.size(), std::numeric_limits<MD_SIZE>::max());
    ::md_parse(text.data(), static_cast<MD_SIZE>(size), &parser, &out);
    return std::move(out.html);
}

bool is_markdown_tag(std::string_view markup) {
    constexpr std::string_view kTags[] = {
        "p",  "h1", "h2", "h3", "h4",    "h5", "h6", "ul", "ol",  "li",     "pre",       "code",
        "em", "hr", "br", "tr", "table", "th", "td", "a",  "del", "strong", "blockquote"};
    if (!markup.starts_with('<')) return false;
    markup.remove_prefix(markup.starts_with("</") ? 2 : 1);
    const std::string_view name = markup.substr(0, markup.find_first_of(" >"));
    const std::string_view rest = markup.substr(name.size());
    if (std::find(std::begin(kTags), std::end(kTags), name) == std::end(kTags)) return false;
    if (rest.starts_with('>')) return true;
    const std::string low = base::lower(rest.substr(0, 16));
    return (name == "a" &&
            (low.starts_with(" href=\"http://") || low.starts_with(" href=\"https://"))) ||
           (name == "ol" && low.starts_with(" start=\""));
}

}  // namespace bunraku::forge
