// SPDX-License-Identifier: Apache-2.0
// Explanations of strings, interpolations and heredocs that are never closed: the place at which
// they open.
#include <cctype>
#include <fmt/format.h>

#include "compile/diagnostics/source_scan.h"
#include "core/base/text.h"

namespace bunraku::diagnostics {

namespace {

struct StringLiteral {
    std::size_t open, close;
};

/// Returns the first string before `end` that continues on another line and is followed directly
/// by a letter, a digit or a slash. Its closing quote is usually the opening quote of another
/// string.
std::optional<StringLiteral> suspicious_string(std::string_view text, std::size_t end) {
    for (std::size_t i = 0; i < end; ++i) {
        if (text[i] == '#') {
            i = text.find('\n', i);
            if (i == std::string_view::npos) break;
            continue;
        }
        if (text[i] != '\'' && text[i] != '"') continue;
        std::size_t j = i + 1;
        while (j < text.size() && text[j] != text[i]) j += text[j] == '\\' ? 2 : 1;
        if (j >= end) break;
        const bool long_string = text.substr(i, j - i).find('\n') != std::string_view::npos;
        const char next = j + 1 < text.size() ? text[j + 1] : ' ';
        if (long_string && (std::isalnum(static_cast<unsigned char>(next)) != 0 || next == '/' ||
                            next == '_' || next == '$'))
            return StringLiteral{i, j};
        i = j;
    }
    return std::nullopt;
}

void add_string(std::string_view text, const StringLiteral& literal, SyntaxFindings& out) {
    const auto end = span_of_byte(text, literal.close, {}).from.line;
    out.places.push_back(span_of_byte(
        text, literal.open, fmt::format("the string that begins here ends in line {}", end)));
    out.hints.push_back(
        fmt::format("A {} is probably missing at the end of that string", text[literal.open]));
}

}  // namespace

bool explain_string_above(std::string_view text, std::size_t at, SyntaxFindings& out) {
    const auto literal = suspicious_string(text, std::min(at, text.size()));
    if (!literal || literal->close + 1 != at) return false;
    add_string(text, *literal, out);
    return true;
}

void explain_unclosed_quote(std::string_view text, std::size_t at, SyntaxFindings& out) {
    // The lexer reports the first character after the quote.
    std::size_t quote = std::min(at, text.size());
    while (quote > 0 && text[quote - 1] != '\'' && text[quote - 1] != '"') --quote;
    if (quote == 0) return;
    --quote;
    const auto start = line_start(text, quote);
    const auto before = text.substr(start, quote - start);
    const auto interpolation = before.rfind("${");
    if (text[quote] == '"' && interpolation != std::string_view::npos &&
        before.find('}', interpolation) == std::string_view::npos) {
        Span span = span_of_byte(text, start + interpolation, "this ${ is never closed");
        ++span.end_column;
        out.places.push_back(std::move(span));
        out.hints.emplace_back("A } is missing in the string");
        return;
    }
    if (const auto literal = suspicious_string(text, quote)) {
        add_string(text, *literal, out);
        return;
    }
    out.places.push_back(span_of_byte(text, quote, "the string begins here"));
    out.hints.push_back(fmt::format("A {} is missing at the end of the string", text[quote]));
}

void explain_heredoc(std::string_view text, std::size_t at, SyntaxFindings& out) {
    const auto open = text.rfind("@(", std::min(at, text.size()));
    if (open == std::string_view::npos) return;
    const auto close = text.find(')', open);
    if (close == std::string_view::npos) {
        out.places.push_back(span_of_byte(text, open + 1, "this ( is never closed"));
        return;
    }
    auto tag = text.substr(open + 2, close - open - 2);
    tag = base::trim(tag.substr(0, tag.find_first_of(":/")), " \t\"");
    Span span = span_of_byte(text, open, "the heredoc begins here");
    span.end_column = span.from.column + static_cast<int>(close + 1 - open);
    out.places.push_back(std::move(span));
    if (tag.empty()) return;
    const auto offset_in = [&](std::string_view part) {
        return static_cast<std::size_t>(part.data() - text.data());
    };
    for (const auto line : base::lines(text.substr(std::min(text.size(), at)))) {
        const auto words = base::trim(line, " \t\r|-");
        if (!base::lower(words).starts_with(base::lower(tag)) || words == tag) continue;
        out.places.push_back(span_of_byte(text, offset_in(words), "this line is not an end tag"));
        break;
    }
    out.hints.push_back(
        fmt::format("The text ends at a line that contains only {}, | {} or |- {}", tag, tag, tag));
}

}  // namespace bunraku::diagnostics
