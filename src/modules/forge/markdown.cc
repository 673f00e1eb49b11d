#include "modules/forge/markdown.h"

#include <algorithm>
#include <fmt/format.h>
#include <vector>

#include "core/base/text.h"
#include "modules/forge/html_page.h"

namespace bunraku::forge {

namespace {

using Lines = std::vector<std::string_view>;

constexpr int kDeepest = 12;
/// No closing mark is looked for further away: an opening one without end costs no more.
constexpr std::size_t kReach = 2000;

bool is_blank(std::string_view line) { return base::trim(line).empty(); }

std::size_t indent_of(std::string_view line) {
    std::size_t n = 0;
    for (char c : line) {
        if (c == ' ') {
            ++n;
        } else if (c == '\t') {
            n += 4 - n % 4;
        } else {
            break;
        }
    }
    return n;
}

/// Without the first `columns` of blanks.
std::string_view outdented(std::string_view line, std::size_t columns) {
    std::size_t n = 0;
    while (n < columns && !line.empty() && (line[0] == ' ' || line[0] == '\t')) {
        n += line[0] == ' ' ? 1 : 4 - n % 4;
        line.remove_prefix(1);
    }
    return line;
}

bool safe_address(std::string_view url) {
    const std::string low = base::lower(url.substr(0, 8));
    return (low.starts_with("http://") || low.starts_with("https://")) &&
           std::none_of(url.begin(), url.end(),
                        [](char c) { return static_cast<unsigned char>(c) <= 0x20; });
}

std::string link_html(std::string_view url, std::string_view text) {
    if (!safe_address(url)) return std::string(text);
    return fmt::format(R"(<a href="{}" rel="nofollow noopener">{}</a>)", html_text(url), text);
}

bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (static_cast<unsigned char>(c) & 0x80) != 0;
}

/// Spans inside of a line or paragraph.
class Inline {
public:
    Inline(std::string_view text, int depth) : text_(text), depth_(depth) {}
    std::string html() {
        while (at_ < text_.size()) step();
        return std::move(out_);
    }

private:
    std::string inner(std::string_view text) const {
        return depth_ >= kDeepest ? html_text(text) : Inline(text, depth_ + 1).html();
    }
    std::size_t find(std::string_view what, std::size_t from) const {
        const std::size_t found =
            text_.substr(0, std::min(text_.size(), from + kReach)).find(what, from);
        return found;
    }
    void plain(std::size_t n) {
        out_ += html_text(text_.substr(at_, n));
        at_ += n;
    }

    void step() {
        switch (text_[at_]) {
            case '\\': return escape();
            case '`': return code();
            case '!': return image();
            case '[': return link();
            case '<': return address();
            case '*':
            case '_': return emphasis();
            case '~': return struck();
            case 'h': return bare_address();
            default: {
                const std::size_t next = text_.find_first_of("\\`![<*_~h", at_ + 1);
                plain((next == std::string_view::npos ? text_.size() : next) - at_);
            }
        }
    }
    void escape() {
        constexpr std::string_view kMarks = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~";
        if (at_ + 1 < text_.size() && kMarks.find(text_[at_ + 1]) != std::string_view::npos) {
            ++at_;
            return plain(1);
        }
        if (at_ + 1 < text_.size() && text_[at_ + 1] == '\n') {
            out_ += "<br>";
            ++at_;
            return;
        }
        plain(1);
    }
    void code() {
        std::size_t n = 1;
        while (at_ + n < text_.size() && text_[at_ + n] == '`') ++n;
        const std::string mark(n, '`');
        for (std::size_t end = find(mark, at_ + n); end != std::string_view::npos;) {
            std::size_t run = n;
            while (end + run < text_.size() && text_[end + run] == '`') ++run;
            if (run == n) {
                out_ += "<code>" + html_text(base::trim(text_.substr(at_ + n, end - at_ - n))) +
                        "</code>";
                at_ = end + n;
                return;
            }
            end = find(mark, end + run);
        }
        plain(n);
    }
    /// "[text](address "title")" at `from`: the ends of text and address.
    bool target(std::size_t from, std::string_view* text, std::string_view* url,
                std::size_t* end) const {
        int open = 0;
        std::size_t close = from;
        for (; close < text_.size() && close < from + kReach; ++close) {
            if (text_[close] == '\\') {
                ++close;
            } else if (text_[close] == '[') {
                ++open;
            } else if (text_[close] == ']' && --open == 0) {
                break;
            }
        }
        if (close >= text_.size() || close >= from + kReach || close + 1 >= text_.size() ||
            text_[close + 1] != '(') {
            return false;
        }
        int parentheses = 1;
        std::size_t last = close + 2;
        for (; last < text_.size() && last < close + kReach; ++last) {
            if (text_[last] == '(') ++parentheses;
            if (text_[last] == ')' && --parentheses == 0) break;
        }
        if (last >= text_.size() || text_[last] != ')') return false;
        *text = text_.substr(from + 1, close - from - 1);
        std::string_view inside = base::trim(text_.substr(close + 2, last - close - 2));
        const std::size_t blank = inside.find_first_of(" \t\n");
        *url = inside.substr(0, blank);
        if (url->starts_with('<') && url->ends_with('>') && url->size() > 1) {
            *url = url->substr(1, url->size() - 2);
        }
        *end = last + 1;
        return true;
    }
    void image() {
        std::string_view text, url;
        std::size_t end = 0;
        if (at_ + 1 < text_.size() && text_[at_ + 1] == '[' && target(at_ + 1, &text, &url, &end)) {
            out_ += link_html(url, text.empty() ? "image" : inner(text));
            at_ = end;
            return;
        }
        plain(1);
    }
    void link() {
        std::string_view text, url;
        std::size_t end = 0;
        if (!target(at_, &text, &url, &end)) return plain(1);
        // A picture that is a link is a link to where it leads, not to itself.
        std::string_view shown, picture;
        std::size_t rest = 0;
        std::string label;
        if (text.starts_with("![") && Inline(text, depth_).target(1, &shown, &picture, &rest) &&
            rest == text.size()) {
            label = html_text(shown.empty() ? "image" : shown);
        } else {
            label = Inline(text, kDeepest).html_without_links();
        }
        out_ += link_html(url, label);
        at_ = end;
    }
    /// Links do not stand in links.
    std::string html_without_links() {
        std::string out;
        while (at_ < text_.size()) {
            if (text_[at_] == '`' || text_[at_] == '\\') {
                text_[at_] == '`' ? code() : escape();
            } else {
                plain(1);
            }
        }
        out.swap(out_);
        return out;
    }
    void address() {
        const std::size_t end = find(">", at_);
        if (end != std::string_view::npos) {
            const std::string_view url = text_.substr(at_ + 1, end - at_ - 1);
            if (safe_address(url)) {
                out_ += link_html(url, html_text(url));
                at_ = end + 1;
                return;
            }
        }
        plain(1);
    }
    void bare_address() {
        const std::string_view rest = text_.substr(at_);
        if ((at_ > 0 && is_word(text_[at_ - 1])) ||
            (!rest.starts_with("http://") && !rest.starts_with("https://"))) {
            return plain(1);
        }
        std::size_t n = rest.find_first_of(" \t\n<>\"'`|");
        if (n == std::string_view::npos) n = rest.size();
        while (n > 8 &&
               std::string_view(".,;:!?)]*_").find(rest[n - 1]) != std::string_view::npos) {
            --n;
        }
        out_ += link_html(rest.substr(0, n), html_text(rest.substr(0, n)));
        at_ += n;
    }
    void emphasis() {
        const char c = text_[at_];
        std::size_t n = 1;
        while (n < 3 && at_ + n < text_.size() && text_[at_ + n] == c) ++n;
        const bool opens = at_ + n < text_.size() && text_[at_ + n] != ' ' &&
                           text_[at_ + n] != '\n' &&
                           !(c == '_' && at_ > 0 && is_word(text_[at_ - 1]));
        if (!opens) return plain(n);
        const std::string mark(n, c);
        for (std::size_t end = find(mark, at_ + n + 1); end != std::string_view::npos;
             end = find(mark, end + 1)) {
            if (text_[end - 1] == ' ' || text_[end - 1] == '\n' || text_[end - 1] == '\\') continue;
            if (c == '_' && end + n < text_.size() && is_word(text_[end + n])) continue;
            const std::string body = inner(text_.substr(at_ + n, end - at_ - n));
            out_ += n == 1   ? "<em>" + body + "</em>"
                    : n == 2 ? "<strong>" + body + "</strong>"
                             : "<em><strong>" + body + "</strong></em>";
            at_ = end + n;
            return;
        }
        plain(n);
    }
    void struck() {
        if (text_.substr(at_, 2) != "~~") return plain(1);
        const std::size_t end = find("~~", at_ + 2);
        if (end == std::string_view::npos || end == at_ + 2) return plain(2);
        out_ += "<del>" + inner(text_.substr(at_ + 2, end - at_ - 2)) + "</del>";
        at_ = end + 2;
    }

    std::string_view text_;
    int depth_;
    std::size_t at_ = 0;
    std::string out_;
};

std::string spans(std::string_view text) { return Inline(base::trim(text), 0).html(); }

/// "-", "*", "+" or "12." before a blank: how wide it is with its blanks; 0: no item.
struct Marker {
    std::size_t width = 0;
    bool ordered = false;
    std::string number;
};
Marker marker_of(std::string_view line) {
    Marker out;
    const std::size_t indent = indent_of(line);
    if (indent > 3) return out;
    const std::string_view rest = outdented(line, indent);
    std::size_t n = 0;
    while (n < rest.size() && n < 9 && rest[n] >= '0' && rest[n] <= '9') ++n;
    if (n > 0 && n < rest.size() && (rest[n] == '.' || rest[n] == ')')) {
        out.ordered = true;
        out.number = rest.substr(0, n);
        ++n;
    } else if (n == 0 && !rest.empty() && (rest[0] == '-' || rest[0] == '*' || rest[0] == '+')) {
        n = 1;
    } else {
        return out;
    }
    if (n < rest.size() && rest[n] != ' ' && rest[n] != '\t') return Marker{};
    std::size_t blanks = indent_of(rest.substr(n));
    if (blanks == 0 || blanks > 4 || n + blanks >= rest.size()) blanks = 1;
    out.width = indent + n + blanks;
    return out;
}

bool is_rule(std::string_view line) {
    if (indent_of(line) > 3) return false;
    char mark = 0;
    int count = 0;
    for (char c : base::trim(line)) {
        if (c == ' ' || c == '\t') continue;
        if (mark == 0 && (c == '-' || c == '*' || c == '_')) mark = c;
        if (c != mark || mark == 0) return false;
        ++count;
    }
    return count >= 3;
}

int heading_level(std::string_view line) {
    if (indent_of(line) > 3) return 0;
    const std::string_view rest = base::trim(line);
    std::size_t n = 0;
    while (n < rest.size() && rest[n] == '#') ++n;
    if (n == 0 || n > 6 || (n < rest.size() && rest[n] != ' ' && rest[n] != '\t')) return 0;
    return static_cast<int>(n);
}

/// "```" or "~~~": the mark; empty: no fence.
std::string_view fence_of(std::string_view line) {
    if (indent_of(line) > 3) return {};
    const std::string_view rest = outdented(line, 3);
    std::size_t n = 0;
    while (n < rest.size() && (rest[0] == '`' || rest[0] == '~') && rest[n] == rest[0]) ++n;
    if (n < 3 || (rest[0] == '`' && rest.find('`', n) != std::string_view::npos)) return {};
    return rest.substr(0, n);
}

Lines cells_of(std::string_view line) {
    Lines out;
    line = base::trim(line);
    if (line.starts_with('|')) line.remove_prefix(1);
    if (line.ends_with('|') && !line.ends_with("\\|")) line.remove_suffix(1);
    std::size_t from = 0;
    bool in_code = false;
    for (std::size_t i = 0; i <= line.size(); ++i) {
        if (i < line.size() && line[i] == '`') in_code = !in_code;
        if (i < line.size() && (line[i] != '|' || in_code || (i > 0 && line[i - 1] == '\\')))
            continue;
        out.push_back(base::trim(line.substr(from, i - from)));
        from = i + 1;
    }
    return out;
}

bool is_table_rule(std::string_view line) {
    if (line.find('-') == std::string_view::npos || line.find('|') == std::string_view::npos) {
        return false;
    }
    return base::trim(line).find_first_not_of("|-: \t") == std::string_view::npos;
}

/// Blocks, one below the other.
class Blocks {
public:
    Blocks(const Lines& lines, int depth) : lines_(lines), depth_(depth) {}
    std::string html() {
        while (at_ < lines_.size()) block();
        return std::move(out_);
    }

private:
    std::string inner(const Lines& lines) const {
        if (depth_ < kDeepest) return Blocks(lines, depth_ + 1).html();
        std::string text;
        for (std::string_view line : lines) text.append(line).append("\n");
        return "<p>" + html_text(text) + "</p>\n";
    }
    bool begins_block(std::string_view line) const {
        return heading_level(line) > 0 || is_rule(line) || !fence_of(line).empty() ||
               base::trim(line).starts_with('>') || marker_of(line).width > 0;
    }
    void block() {
        const std::string_view line = lines_[at_];
        if (is_blank(line)) {
            ++at_;
        } else if (indent_of(line) >= 4) {
            indented_code();
        } else if (!fence_of(line).empty()) {
            fenced_code();
        } else if (const int level = heading_level(line)) {
            std::string_view text = base::trim(line).substr(static_cast<std::size_t>(level));
            text = base::trim(text);
            while (text.ends_with('#')) text.remove_suffix(1);
            out_ += fmt::format("<h{0}>{1}</h{0}>\n", level, spans(text));
            ++at_;
        } else if (is_rule(line)) {
            out_ += "<hr>\n";
            ++at_;
        } else if (outdented(line, 3).starts_with('>')) {
            quote();
        } else if (marker_of(line).width > 0) {
            list();
        } else if (at_ + 1 < lines_.size() && line.find('|') != std::string_view::npos &&
                   is_table_rule(lines_[at_ + 1])) {
            table();
        } else {
            paragraph();
        }
    }
    void indented_code() {
        std::string code;
        std::size_t blank = 0;
        while (at_ < lines_.size() && (is_blank(lines_[at_]) || indent_of(lines_[at_]) >= 4)) {
            if (is_blank(lines_[at_])) {
                ++blank;
            } else {
                code.append(blank, '\n');
                blank = 0;
                code.append(outdented(lines_[at_], 4)).append("\n");
            }
            ++at_;
        }
        out_ += "<pre><code>" + html_text(code) + "</code></pre>\n";
    }
    void fenced_code() {
        const std::string_view mark = fence_of(lines_[at_]);
        const std::size_t indent = indent_of(lines_[at_]);
        std::string code;
        for (++at_; at_ < lines_.size(); ++at_) {
            const std::string_view end = base::trim(lines_[at_]);
            if (end.size() >= mark.size() && end.starts_with(mark) &&
                end.find_first_not_of(mark[0]) == std::string_view::npos) {
                ++at_;
                break;
            }
            code.append(outdented(lines_[at_], indent)).append("\n");
        }
        out_ += "<pre><code>" + html_text(code) + "</code></pre>\n";
    }
    void quote() {
        Lines inside;
        while (at_ < lines_.size()) {
            std::string_view line = lines_[at_];
            const std::string_view rest = outdented(line, 3);
            if (rest.starts_with('>')) {
                line = rest.substr(1);
                if (line.starts_with(' ')) line.remove_prefix(1);
            } else if (is_blank(line) || begins_block(line)) {
                break;
            }
            inside.push_back(line);
            ++at_;
        }
        out_ += "<blockquote>\n" + inner(inside) + "</blockquote>\n";
    }
    void list() {
        const Marker first = marker_of(lines_[at_]);
        const bool ordered = first.ordered;
        std::string items;
        bool loose = false;
        while (at_ < lines_.size()) {
            const Marker marker = marker_of(lines_[at_]);
            if (marker.width == 0 || marker.ordered != ordered || is_rule(lines_[at_])) break;
            Lines inside{lines_[at_].substr(std::min(lines_[at_].size(), marker.width))};
            bool after_blank = false;
            for (++at_; at_ < lines_.size(); ++at_) {
                const std::string_view line = lines_[at_];
                if (is_blank(line)) {
                    after_blank = true;
                    inside.emplace_back();
                    continue;
                }
                if (indent_of(line) >= marker.width) {
                    loose |= after_blank;
                    inside.push_back(outdented(line, marker.width));
                } else if (after_blank || begins_block(line)) {
                    break;
                } else {
                    inside.push_back(base::trim(line));
                }
                after_blank = false;
            }
            const Marker next = at_ < lines_.size() ? marker_of(lines_[at_]) : Marker{};
            loose |= after_blank && next.width > 0 && next.ordered == ordered;
            while (!inside.empty() && is_blank(inside.back())) inside.pop_back();
            std::string body = inner(inside);
            // An item of one paragraph stands close.
            if (!loose && body.starts_with("<p>")) {
                const std::size_t end = body.find("</p>\n");
                const std::string rest = body.substr(end + 5);
                body = body.substr(3, end - 3) + (rest.empty() ? "" : "\n") + rest;
            }
            items += "<li>" + body + "</li>\n";
        }
        const std::string start =
            ordered && first.number != "1" ? fmt::format(" start=\"{}\"", first.number) : "";
        out_ += ordered ? "<ol" + start + ">\n" + items + "</ol>\n" : "<ul>\n" + items + "</ul>\n";
    }
    void table() {
        const Lines head = cells_of(lines_[at_]);
        at_ += 2;
        out_ += "<table><tr>";
        for (std::string_view cell : head) out_ += "<th>" + spans(cell) + "</th>";
        out_ += "</tr>\n";
        while (at_ < lines_.size() && !is_blank(lines_[at_]) &&
               lines_[at_].find('|') != std::string_view::npos) {
            Lines cells = cells_of(lines_[at_++]);
            cells.resize(head.size());
            out_ += "<tr>";
            for (std::string_view cell : cells) out_ += "<td>" + spans(cell) + "</td>";
            out_ += "</tr>\n";
        }
        out_ += "</table>\n";
    }
    void paragraph() {
        std::string text;
        int level = 0;
        while (at_ < lines_.size() && !is_blank(lines_[at_])) {
            const std::string_view line = lines_[at_], bare = base::trim(line);
            if (!text.empty()) {
                // A line of = or - below makes a heading of it.
                if (bare.find_first_not_of('=') == std::string_view::npos) level = 1;
                if (bare.find_first_not_of('-') == std::string_view::npos) level = 2;
                if (level > 0) {
                    ++at_;
                    break;
                }
                if (begins_block(line)) break;
                text += '\n';
            }
            text += bare;
            if (line.ends_with("  ")) text += '\\';
            ++at_;
        }
        while (text.ends_with('\\')) text.pop_back();
        out_ += level > 0 ? fmt::format("<h{0}>{1}</h{0}>\n", level, spans(text))
                          : "<p>" + spans(text) + "</p>\n";
    }

    const Lines& lines_;
    int depth_;
    std::size_t at_ = 0;
    std::string out_;
};

}  // namespace

std::string markdown_html(std::string_view text) {
    Lines lines;
    while (!text.empty()) {
        const std::size_t eol = text.find('\n');
        std::string_view line = text.substr(0, eol);
        if (line.ends_with('\r')) line.remove_suffix(1);
        lines.push_back(line);
        text = eol == std::string_view::npos ? std::string_view{} : text.substr(eol + 1);
    }
    return Blocks(lines, 0).html();
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
