// SPDX-License-Identifier: Apache-2.0
// Formats an explained error for a terminal, and as JSON and SARIF for programs.
#include <algorithm>
#include <fmt/format.h>

#include "compile/diagnostics/source_error.h"
#include "core/value/rich_data.h"

namespace bunraku::diagnostics {

namespace {

/// columns of an excerpt line if the width of the terminal is unknown
constexpr std::size_t kWidest = 400;

std::string json_literal(std::string_view text) {
    std::string out;
    value::write_json(out, value::Value::string(text));
    return out;
}

/// Splits a source line into characters. Replaces characters that would move the cursor with a
/// space or '?'.
std::vector<std::string> characters(std::string_view line) {
    std::vector<std::string> out;
    for (std::size_t i = 0; i < line.size();) {
        std::size_t end = i + 1;
        while (end < line.size() && (static_cast<unsigned char>(line[end]) & 0xC0) == 0x80) ++end;
        const auto c = static_cast<unsigned char>(line[i]);
        if (c == '\t') {
            out.emplace_back(" ");
        } else if (c < 0x20 || c == 0x7F ||
                   (c == 0xC2 && end - i == 2 && static_cast<unsigned char>(line[i + 1]) < 0xA0)) {
            out.emplace_back("?");
        } else {
            out.emplace_back(line.substr(i, end - i));
        }
        i = end;
    }
    return out;
}

std::string place_text(const base::Location& where) {
    std::string out = where.file.empty() ? std::string("line") : where.file;
    out += fmt::format("{}{}", where.file.empty() ? " " : ":", where.line);
    if (where.column > 0) out += fmt::format(":{}", where.column);
    return out;
}

void add_excerpt(std::string& out, const Span& span, char mark, std::size_t gutter,
                 std::size_t width) {
    if (span.line.empty() && span.from.column > 1) return;
    auto letters = characters(span.line);
    std::size_t from = span.from.column > 0 ? static_cast<std::size_t>(span.from.column) - 1 : 0;
    std::size_t end =
        span.end_column > 0 ? static_cast<std::size_t>(span.end_column) - 1 : from + 1;
    if (end <= from) end = from + 1;
    const std::size_t room =
        width > gutter + 12 ? width - gutter - 6 : (width == 0 ? kWidest : std::size_t{20});
    // Cuts a long line so that the marked text is visible.
    std::string before, after;
    if (letters.size() > room) {
        const std::size_t start =
            from > room / 3 ? std::min(from - room / 3, letters.size() - 1) : 0;
        const std::size_t stop = std::min(letters.size(), start + room - 2);
        if (stop < letters.size()) after = "…";
        if (start > 0) before = "…";
        letters.assign(letters.begin() + static_cast<long>(start),
                       letters.begin() + static_cast<long>(stop));
        from = from - start + (before.empty() ? 0 : 1);
        end = std::min(end - start + (before.empty() ? 0 : 1), letters.size() + 1);
        if (end <= from) end = from + 1;
    }
    std::string line = before;
    for (const auto& letter : letters) line += letter;
    out += fmt::format("  {:>{}} | {}{}\n", span.from.line, gutter, line, after);
    if (span.from.column > 0) {
        out += fmt::format("  {} | {}{}\n", std::string(gutter, ' '), std::string(from, ' '),
                           std::string(end - from, mark));
    }
}

std::string span_json(const Span& span) {
    std::string out = "{";
    if (!span.from.file.empty()) out += fmt::format("\"file\":{},", json_literal(span.from.file));
    out += fmt::format("\"line\":{}", span.from.line);
    if (span.from.column > 0) out += fmt::format(",\"column\":{}", span.from.column);
    if (span.end_column > 0) out += fmt::format(",\"end_column\":{}", span.end_column);
    if (!span.line.empty()) out += fmt::format(",\"source\":{}", json_literal(span.line));
    if (!span.text.empty()) out += fmt::format(",\"text\":{}", json_literal(span.text));
    return out + "}";
}

template <class List, class Print>
std::string list_json(const List& list, Print print) {
    std::string out = "[";
    for (const auto& one : list) {
        if (out.size() > 1) out += ',';
        out += print(one);
    }
    return out + "]";
}

std::string region(const Span& span) {
    std::string out = fmt::format("{{\"startLine\":{}", span.from.line);
    if (span.from.column > 0) out += fmt::format(",\"startColumn\":{}", span.from.column);
    if (span.end_column > span.from.column)
        out += fmt::format(",\"endColumn\":{}", span.end_column);
    if (!span.line.empty())
        out += fmt::format(",\"snippet\":{{\"text\":{}}}", json_literal(span.line));
    return out + "}";
}

std::string sarif_location(const Span& span) {
    std::string out = "{\"physicalLocation\":{";
    out += fmt::format("\"artifactLocation\":{{\"uri\":{}}}",
                       json_literal(span.from.file.starts_with("/") ? "file://" + span.from.file
                                                                    : span.from.file));
    if (span.from.line > 0) out += ",\"region\":" + region(span);
    out += "}";
    if (!span.text.empty())
        out += fmt::format(",\"message\":{{\"text\":{}}}", json_literal(span.text));
    return out + "}";
}

std::string advice(const SourceError& mistake) {
    std::string out;
    if (!mistake.suggestions.empty())
        out += fmt::format("\nDid you mean {}?", fmt::join(mistake.suggestions, " or "));
    for (const auto& hint : mistake.hints) out += "\n" + hint;
    return out;
}

}  // namespace

std::string source_error_text(const SourceError& mistake, const base::Diagnostic& record,
                              std::size_t width) {
    std::string out;
    std::size_t gutter = std::to_string(mistake.main.from.line).size();
    for (const auto& place : mistake.places)
        gutter = std::max(gutter, std::to_string(place.from.line).size());
    const bool elsewhere =
        mistake.main.from.file != record.where.file || mistake.main.from.line != record.where.line;
    if (mistake.main.from.line > 0 &&
        !(mistake.main.line.empty() && mistake.main.end_column == 0)) {
        if (elsewhere) out += fmt::format("  {}\n", place_text(mistake.main.from));
        add_excerpt(out, mistake.main, '^', gutter, width);
    }
    for (const auto& place : mistake.places) {
        if (place.from.line <= 0) continue;
        out += fmt::format("  {}: {}\n", place_text(place.from), place.text);
        if (!place.line.empty()) add_excerpt(out, place, '-', gutter, width);
    }
    const std::string margin(gutter + 3, ' ');
    if (!mistake.suggestions.empty())
        out +=
            fmt::format("{}= did you mean {}?\n", margin, fmt::join(mistake.suggestions, " or "));
    for (const auto& hint : mistake.hints) out += fmt::format("{}= hint: {}\n", margin, hint);
    for (const auto& more : mistake.more) {
        out += fmt::format("  {}: {}\n", place_text(more.where.from), more.text);
        add_excerpt(out, more.where, '^', gutter, width);
        for (const auto& hint : more.hints) out += fmt::format("{}= hint: {}\n", margin, hint);
    }
    return out;
}

std::string source_error_json(const SourceError& mistake) {
    if (mistake.main.from.line <= 0 && mistake.places.empty() && mistake.suggestions.empty() &&
        mistake.hints.empty())
        return {};
    std::string out = ",\"explanation\":{";
    out +=
        fmt::format("\"place\":{}", mistake.main.from.line > 0 ? span_json(mistake.main) : "null");
    out += ",\"places\":" + list_json(mistake.places, span_json);
    out += ",\"did_you_mean\":" +
           list_json(mistake.suggestions, [](const std::string& s) { return json_literal(s); });
    out += ",\"hints\":" +
           list_json(mistake.hints, [](const std::string& s) { return json_literal(s); });
    if (!mistake.more.empty()) {
        out += ",\"more\":" + list_json(mistake.more, [](const SourceError::More& more) {
                   return fmt::format(
                       "{{\"message\":{},\"place\":{},\"hints\":{}}}", json_literal(more.text),
                       span_json(more.where),
                       list_json(more.hints, [](const std::string& s) { return json_literal(s); }));
               });
    }
    return out + "}";
}

// SARIF 2.1.0 (OASIS, 2020): the properties that code scanners read.
std::string sarif_log(const std::vector<std::pair<base::Diagnostic, SourceError>>& records,
                      std::string_view version) {
    std::vector<std::string> rules;
    std::string results;
    const auto add = [&](const std::string& code, std::string_view level, const std::string& text,
                         const Span& place, const std::vector<Span>& related) {
        const std::string rule = code.empty() ? "RUNTIME_ERROR" : code;
        if (std::ranges::find(rules, rule) == rules.end()) rules.push_back(rule);
        if (!results.empty()) results += ",";
        results += fmt::format("{{\"ruleId\":{},\"level\":\"{}\",\"message\":{{\"text\":{}}}",
                               json_literal(rule), level, json_literal(text));
        if (place.from.line > 0 || !place.from.file.empty())
            results += ",\"locations\":[" + sarif_location(place) + "]";
        if (!related.empty())
            results += ",\"relatedLocations\":" + list_json(related, sarif_location);
        results += "}";
    };
    for (const auto& [record, mistake] : records) {
        const std::string_view level = record.level >= base::Level::Err       ? "error"
                                       : record.level == base::Level::Warning ? "warning"
                                                                              : "note";
        add(record.issue_code, level, record.message + advice(mistake), mistake.main,
            mistake.places);
        for (const auto& more : mistake.more)
            add(record.issue_code, level, more.text, more.where, {});
    }
    return fmt::format(
        "{{\"$schema\":\"https://json.schemastore.org/sarif-2.1.0.json\",\"version\":\"2.1.0\","
        "\"runs\":[{{\"tool\":{{\"driver\":{{\"name\":\"bunraku\",\"version\":{},\"rules\":{}}}}},"
        "\"columnKind\":\"unicodeCodePoints\",\"results\":[{}]}}]}}\n",
        json_literal(version),
        list_json(rules,
                  [](const std::string& rule) {
                      return fmt::format("{{\"id\":{}}}", json_literal(rule));
                  }),
        results);
}

}  // namespace bunraku::diagnostics
