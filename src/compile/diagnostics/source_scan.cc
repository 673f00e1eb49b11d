// SPDX-License-Identifier: Apache-2.0
#include "compile/diagnostics/source_scan.h"

#include <algorithm>
#include <cctype>

#include "core/base/text.h"

namespace bunraku::diagnostics {

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
static std::size_t end_of_heredoc(std::string_view text, std::size_t at) {
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

Scan scan(std::string_view text, std::size_t end, std::size_t asked) {
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

Span span_of_byte(std::string_view text, std::size_t at, std::string label) {
    base::Location where;
    where.line =
        1 + static_cast<int>(std::count(text.begin(), text.begin() + static_cast<long>(at), '\n'));
    const auto start = line_start(text, at);
    where.column = 1;
    for (std::size_t i = start; i < at; ++i)
        if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) ++where.column;
    Span out{where, where.column + 1, std::move(label), {}};
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

}  // namespace bunraku::diagnostics
