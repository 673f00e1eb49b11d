// SPDX-License-Identifier: Apache-2.0
// Explanations of common syntax errors, and the search for further ones after the first.
#include <algorithm>
#include <array>
#include <cctype>
#include <fmt/format.h>

#include "compile/diagnostics/source_error.h"
#include "compile/diagnostics/source_scan.h"
#include "core/base/text.h"
#include "language/syntax/parser.h"

namespace bunraku::diagnostics {

namespace {

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

/// Explains => between resources, and -> between an attribute or key and its value.
void arrows(std::string_view text, std::size_t at, const Scan& before, SyntaxFindings& out) {
    const auto token = text.substr(std::min(at, text.size()), 2);
    const bool in_braces = !before.open.empty() && before.open.back().kind == '{';
    if (token == "=>" && !in_braces && before.last_token < at) {
        const char last = text[before.last_token];
        if (last == ']' || last == '}')
            out.hints.emplace_back(
                "Write -> between resources that depend on each other; => is for attributes");
        return;
    }
    if (!in_braces) return;
    // `'a' -> 1` is a relationship, so that the error may be at the token after it.
    const auto entry =
        std::max(line_start(text, std::min(at, text.size())), before.open.back().at + 1);
    auto arrow = text.substr(0, std::min(text.size(), at + 2)).rfind("->");
    if (arrow == std::string_view::npos || arrow < entry ||
        text.substr(arrow, at - std::min(at, arrow)).find(',') != std::string_view::npos)
        return;
    if (arrow != at) {
        Span span = span_of_byte(text, arrow, "this arrow");
        ++span.end_column;
        out.places.push_back(std::move(span));
    }
    out.hints.emplace_back(
        "Write => between an attribute or key and its value; -> relates resources");
}

/// Explains a bracket that is still open where a statement begins: the token is the first of its
/// line, and the line is not indented deeper than that of the bracket.
void unclosed_list(std::string_view text, std::size_t at, const Scan& before, SyntaxFindings& out) {
    if (before.open.empty() || at >= text.size()) return;
    const auto& inside = before.open.back();
    const bool first = line_start(text, at) + indent_of(text, at) == at;
    if (inside.kind == '{' || !first || line_start(text, inside.at) == line_start(text, at) ||
        indent_of(text, at) > inside.indent || !(word(text[at]) || text[at] == '$'))
        return;
    out.places.push_back(
        span_of_byte(text, inside.at, fmt::format("this {} is never closed", inside.kind)));
    out.hints.push_back(fmt::format("A {} is missing", inside.kind == '[' ? ']' : ')'));
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
        explain_unclosed_quote(text, at, out);
        return out;
    }
    if (issue_code.starts_with("HEREDOC_")) {
        explain_heredoc(text, at, out);
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
    if (explain_string_above(text, at, out)) return out;
    arrows(text, at, before, out);
    if (!out.hints.empty()) return out;
    unclosed_list(text, at, before, out);
    if (!out.hints.empty()) return out;
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
