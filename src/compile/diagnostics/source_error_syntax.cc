// SPDX-License-Identifier: Apache-2.0
// Explanations of common syntax errors, and the search for further ones after the first.
#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>

#include "compile/diagnostics/source_error.h"
#include "core/base/text.h"
#include "language/syntax/parser.h"

namespace bunraku::diagnostics {

namespace {

struct Bracket {
    char kind;
    std::size_t at;
    std::size_t indent;  ///< indentation of its line
};

struct Scan {
    std::vector<Bracket> open;  ///< brackets still open at the end
    /// open bracket that the indentation of a later one marks as unclosed
    std::optional<Bracket> suspect;
    std::optional<std::size_t> extra;  ///< closing bracket without an opening one
    /// Last byte outside of white space and comments.
    std::size_t last_token = std::string_view::npos;
    std::size_t matched = std::string_view::npos;  ///< closing bracket of the one at `asked`
};

std::size_t line_start(std::string_view text, std::size_t at) {
    const auto newline = at == 0 ? std::string_view::npos : text.rfind('\n', at - 1);
    return newline == std::string_view::npos ? 0 : newline + 1;
}

std::size_t indent_of(std::string_view text, std::size_t at) {
    const auto start = line_start(text, at);
    std::size_t i = start;
    while (i < text.size() && (text[i] == ' ' || text[i] == '\t')) ++i;
    return i - start;
}

char partner(char closing) { return closing == '}' ? '{' : closing == ']' ? '[' : '('; }

/// Returns the offset after the text of the heredoc whose tag is at `at`. The text starts on the
/// next line.
std::size_t end_of_heredoc(std::string_view text, std::size_t at) {
    const auto close = text.find(')', at);
    if (close == std::string_view::npos) return at;
    auto tag = text.substr(at + 2, close - at - 2);
    tag = tag.substr(0, tag.find_first_of(":/"));
    const std::string name(base::trim(tag, " \t\""));
    if (name.empty()) return at;
    for (auto line = text.find('\n', close); line != std::string_view::npos;) {
        const auto next = text.find('\n', line + 1);
        auto words = base::trim(text.substr(line + 1, next - line - 1), " \t\r");
        while (!words.empty() && (words[0] == '|' || words[0] == '-' || words[0] == ' '))
            words.remove_prefix(1);
        if (words == name) return next == std::string_view::npos ? text.size() : next;
        line = next;
    }
    return at;
}

/// Scans the brackets of a text up to `end`; skips strings and comments.
Scan scan(std::string_view text, std::size_t end, std::size_t asked = std::string_view::npos) {
    Scan out;
    for (std::size_t i = 0; i < end && i < text.size(); ++i) {
        const char c = text[i];
        if (c == '#') {
            i = text.find('\n', i);
            if (i == std::string_view::npos) break;
            continue;
        }
        if (c == '/' && i + 1 < text.size() && text[i + 1] == '*') {
            i = text.find("*/", i + 2);
            if (i == std::string_view::npos) break;
            ++i;
            continue;
        }
        if (std::isspace(static_cast<unsigned char>(c)) != 0) continue;
        out.last_token = i;
        if (c == '\'' || c == '"') {
            std::size_t j = i + 1;
            while (j < text.size() && text[j] != c) j += text[j] == '\\' ? 2 : 1;
            if (j >= end) break;
            i = out.last_token = j;
            continue;
        }
        if (c == '@' && i + 1 < text.size() && text[i + 1] == '(') {
            const auto behind = end_of_heredoc(text, i);
            if (behind > i && behind < end) i = out.last_token = behind - 1;
            continue;
        }
        if (c == '{' || c == '[' || c == '(') {
            out.open.push_back({c, i, indent_of(text, i)});
        } else if (c == '}' || c == ']' || c == ')') {
            if (out.open.empty()) {
                if (!out.extra) out.extra = i;
                continue;
            }
            // If a closing bracket is first on its line, its indentation identifies the opening
            // one.
            const bool first = line_start(text, i) + indent_of(text, i) == i;
            if (first && !out.suspect && out.open.back().indent > indent_of(text, i))
                out.suspect = out.open.back();
            if (out.open.back().kind != partner(c)) continue;
            if (out.open.back().at == asked) {
                out.matched = i;
                return out;
            }
            out.open.pop_back();
        }
    }
    return out;
}

Span span_of_byte(std::string_view text, std::size_t at, std::string said) {
    base::Location where;
    where.line =
        1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<long>(at), '\n'));
    const auto start = line_start(text, at);
    where.column = 1;
    for (std::size_t i = start; i < at; ++i)
        if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) ++where.column;
    Span out{where, where.column + 1, std::move(said), {}};
    out.line = std::string(text.substr(start, text.find('\n', start) - start));
    return out;
}

std::size_t byte_at(std::string_view text, const base::Location& where) {
    std::size_t at = 0;
    for (int i = 1; i < where.line; ++i) {
        at = text.find('\n', at);
        if (at == std::string_view::npos) return text.size();
        ++at;
    }
    for (int i = 1; i < where.column && at < text.size() && text[at] != '\n'; ++i) {
        ++at;
        while (at < text.size() && (static_cast<unsigned char>(text[at]) & 0xC0) == 0x80) ++at;
    }
    return at;
}

bool word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == ':';
}

/// Reports whether an arrow follows the word at `at`.
bool arrow_follows(std::string_view text, std::size_t at) {
    if (at < text.size() && (text[at] == '\'' || text[at] == '"')) {
        const auto close = text.find(text[at], at + 1);
        if (close == std::string_view::npos) return false;
        at = close + 1;
    }
    while (at < text.size() && word(text[at])) ++at;
    while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) ++at;
    return text.substr(at).starts_with("=>") || text.substr(at).starts_with("+>");
}

struct UnexpectedToken {
    std::string_view bytes, name;
};
constexpr std::array<UnexpectedToken, 9> kUnexpectedTokens = {
    {{"\xE2\x80\x98", "a typographic quote"},
     {"\xE2\x80\x99", "a typographic quote"},
     {"\xE2\x80\x9A", "a typographic quote"},
     {"\xE2\x80\x9C", "a typographic quote"},
     {"\xE2\x80\x9D", "a typographic quote"},
     {"\xE2\x80\x9E", "a typographic quote"},
     {"\xE2\x80\x93", "a typographic dash"},
     {"\xC2\xA0", "a no-break space"},
     {"\xEF\xBB\xBF", "a byte order mark"}}};

void unexpected_characters(std::string_view text, std::size_t at, SyntaxFindings& out) {
    const auto start = line_start(text, at);
    const auto line = text.substr(start, text.find('\n', start) - start);
    for (const auto& [bytes, name] : kUnexpectedTokens) {
        const auto found = line.find(bytes);
        if (found == std::string_view::npos) continue;
        out.places.push_back(span_of_byte(text, start + found, fmt::format("{} is here", name)));
        out.hints.push_back(name.ends_with("quote")
                                ? "Use ' or \" instead: a word processor has replaced the quotes"
                                : fmt::format("Remove {}", name));
        return;
    }
}

/// Looks for misspelt keywords in the line.
void words_of_line(std::string_view text, std::size_t at, SyntaxFindings& out) {
    const auto start = line_start(text, std::min(at, text.size()));
    const std::string line(text.substr(start, text.find('\n', start) - start));
    for (std::string_view wrong : {"elseif", "elif", "else if"}) {
        const auto found = line.find(wrong);
        if (found == std::string::npos || (found > 0 && word(line[found - 1]))) continue;
        if (found + wrong.size() < line.size() && word(line[found + wrong.size()])) continue;
        auto span = span_of_byte(text, start + found, "this word");
        span.end_column = span.from.column + static_cast<int>(wrong.size());
        out.places.push_back(std::move(span));
        out.hints.emplace_back("Write `elsif` in Puppet");
        return;
    }
}

void equals_sign(std::string_view text, std::size_t at, const Scan& before, SyntaxFindings& out) {
    const auto start = line_start(text, at);
    const auto line = base::trim(text.substr(start, at - start), " \t}");
    for (std::string_view start_word : {"if ", "elsif ", "unless ", "if(", "unless("}) {
        if (!line.starts_with(start_word)) continue;
        out.hints.emplace_back("To compare, write ==");
        return;
    }
    if (!before.open.empty() && before.open.back().kind == '{') {
        out.hints.emplace_back("Use => between an attribute or hash key and its value");
    } else if (!line.starts_with("$")) {
        out.hints.emplace_back("A variable begins with $");
    }
}

void missing_separator(std::string_view text, std::size_t at, const Scan& before,
                       SyntaxFindings& out) {
    if (before.open.empty() || before.last_token == std::string_view::npos || at >= text.size())
        return;
    const auto& inside = before.open.back();
    const char last = text[before.last_token];
    if (inside.at == before.last_token || last == ',' || last == ';') return;
    const auto head = base::trim(text.substr(0, inside.at), " \t\n\r");
    const bool value_before =
        word(last) || last == '\'' || last == '"' || last == ')' || last == ']' || last == '}';
    const bool value_here = word(text[at]) || text[at] == '\'' || text[at] == '"' ||
                            text[at] == '$' || text[at] == '[' || text[at] == '{';
    if (!value_before || !value_here) return;
    const auto behind = [&](std::string what) {
        out.places.push_back(span_of_byte(text, before.last_token, std::move(what)));
    };
    if (inside.kind == '{') {
        if (!arrow_follows(text, at)) return;
        const auto content = text.substr(inside.at + 1, before.last_token - inside.at);
        const bool titled = content.find(": ") != std::string_view::npos ||
                            content.find(":\n") != std::string_view::npos ||
                            content.find("=>") != std::string_view::npos || content.ends_with(":");
        if (!titled && !head.empty() && word(head.back())) {
            behind("the title ends here");
            out.hints.emplace_back("A colon is missing after the title");
        } else {
            behind("the previous attribute ends here");
            out.hints.emplace_back("A comma is missing between the attributes");
        }
        return;
    }
    // A list of values, arguments or parameters.
    const auto line = head.substr(line_start(head, head.size()));
    if (inside.kind == '(' &&
        (line.starts_with("class ") || line.starts_with("define ") ||
         line.starts_with("function ")) &&
        text[at] != '$') {
        out.hints.emplace_back("A parameter's name begins with $");
        return;
    }
    behind("the previous element ends here");
    out.hints.emplace_back(inside.kind == '[' ? "A comma is missing between the values"
                                              : "A comma is missing in the list");
}

}  // namespace

base::Location end_of_code(std::string_view text) {
    const auto last = scan(text, text.size()).last_token;
    return last == std::string_view::npos ? base::Location{} : span_of_byte(text, last, {}).from;
}

SyntaxFindings explain_syntax(std::string_view text, const base::Location& where,
                              std::string_view message, std::string_view issue_code) {
    SyntaxFindings out;
    const std::size_t at = byte_at(text, where);
    unexpected_characters(text, at, out);
    if (!out.hints.empty()) return out;
    const bool at_end =
        issue_code == "SYNTAX_ERROR" && message.find("at end of") != std::string_view::npos;
    if (at_end) {
        const Scan all = scan(text, text.size());
        const auto open = all.suspect        ? all.suspect
                          : all.open.empty() ? std::nullopt
                                             : std::optional(all.open.back());
        if (open) {
            out.places.push_back(
                span_of_byte(text, open->at, fmt::format("this {} is never closed", open->kind)));
            out.hints.push_back(fmt::format("A {} is missing", open->kind == '{'   ? '}'
                                                               : open->kind == '[' ? ']'
                                                                                   : ')'));
        }
        return out;
    }
    if (issue_code == "UNCLOSED_QUOTE") {
        out.hints.emplace_back(
            "The string that begins here has no end: a quote is missing on this "
            "line or above");
        return out;
    }
    const Scan before = scan(text, at);
    if (at < text.size() && (text[at] == '}' || text[at] == ']' || text[at] == ')')) {
        if (before.open.empty()) {
            out.hints.push_back(fmt::format("There is no opening bracket for this {}", text[at]));
            return out;
        }
        if (before.open.back().kind != partner(text[at])) {
            out.places.push_back(
                span_of_byte(text, before.open.back().at,
                             fmt::format("this {} is still open", before.open.back().kind)));
        }
    }
    words_of_line(text, at, out);
    if (!out.hints.empty()) return out;
    if (at < text.size() && text[at] == '=' && text.substr(at, 2) != "==" &&
        text.substr(at, 2) != "=>") {
        equals_sign(text, at, before, out);
        return out;
    }
    missing_separator(text, at, before, out);
    if (!out.hints.empty()) return out;
    // An unclosed bracket above may cause the error.
    const Scan all = scan(text, text.size());
    if (!all.open.empty()) {
        const auto& open = all.suspect ? *all.suspect : all.open.back();
        if (open.at < at)
            out.places.push_back(
                span_of_byte(text, open.at, fmt::format("this {} is never closed", open.kind)));
    }
    return out;
}

// Finds further syntax errors. Replaces the code around an error, from its line to the closing
// bracket, with spaces and parses again. Reports a new error only if it is after the replaced code.
std::vector<SourceError::More> further_syntax_errors(const std::string& file,
                                                     const std::string& text,
                                                     const base::Location& first) {
    std::vector<SourceError::More> out;
    // In a template it is unclear where the code continues after an error.
    if (text.size() > (1U << 18) || file.ends_with(".epp")) return out;
    std::string rest = text;
    std::size_t at = byte_at(rest, first);
    for (int rounds = 0; rounds < 40 && out.size() < 20; ++rounds) {
        // Replaces the next outer bracket as long as the new error is inside the replaced code.
        const auto open = scan(rest, at).open;
        bool moved = false;
        for (std::size_t i = 0; i <= open.size() && !moved; ++i) {
            const bool line_only = i == open.size() && open.empty();
            if (i == open.size() && !line_only) break;
            std::size_t from, to;
            if (line_only) {
                from = line_start(rest, std::min(at, rest.size()));
                to = rest.find('\n', from);
                if (to == std::string::npos) return out;
            } else {
                const auto& outer = open[open.size() - 1 - i];
                from = line_start(rest, outer.at);
                const auto closing = scan(rest, rest.size(), outer.at).matched;
                to = closing == std::string::npos ? closing : closing + 1;
                if (to == std::string::npos) continue;
            }
            std::string blanked = rest;
            for (std::size_t j = from; j < to; ++j)
                if (blanked[j] != '\n') blanked[j] = ' ';
            try {
                syntax::parse(file, blanked, {});
                return out;
            } catch (const base::PuppetError& error) {
                const auto next = byte_at(blanked, error.where());
                if (next < to || error.where().line <= 0) continue;
                if (error.message().find("at end of") != std::string::npos) return out;
                SourceError::More more;
                more.text = error.message();
                more.where = span_at(text, error.where());
                more.hints =
                    explain_syntax(blanked, error.where(), error.message(), error.issue_code())
                        .hints;
                out.push_back(std::move(more));
                rest = std::move(blanked);
                at = next;
                moved = true;
            }
        }
        if (!moved) return out;
    }
    return out;
}

}  // namespace bunraku::diagnostics
