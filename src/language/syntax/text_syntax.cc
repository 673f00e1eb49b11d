// SPDX-License-Identifier: Apache-2.0
// Checks the syntax that a heredoc declares for its text: json, base64, pp or epp.
#include <algorithm>
#include <fmt/format.h>

#include "core/codec/ruby_json.h"
#include "language/syntax/char_class.h"
#include "language/syntax/limits.h"
#include "language/syntax/parser.h"

namespace bunraku::syntax {

namespace {

/// Returns the first `count` characters, with line breaks shown as "\n".
std::string excerpt(std::string_view text, std::size_t count) {
    std::size_t end = 0;
    for (std::size_t characters = 0; end < text.size(); ++end) {
        if ((static_cast<unsigned char>(text[end]) & 0xC0) != 0x80 && ++characters > count) break;
    }
    std::string out;
    for (std::size_t i = 0; i < end; ++i) {
        if (text[i] == '\n') {
            if (out.ends_with('\r')) out.pop_back();
            out += "\\n";
        } else {
            out += text[i];
        }
    }
    return out;
}

std::string check_base64(std::string_view text) {
    std::string plain;
    for (char c : text) {
        if (c != '\r' && c != '?' && c != '\n' && c != ' ' && c != '\t') plain += c;
    }
    std::size_t padding = 0;
    while (padding < 2 && padding < plain.size() && plain[plain.size() - 1 - padding] == '=')
        ++padding;
    const bool letters = std::all_of(
        plain.begin(), plain.end() - static_cast<std::ptrdiff_t>(padding),
        [](char c) { return is_digit(c) || is_lower(c) || is_upper(c) || c == '+' || c == '/'; });
    if (letters && plain.size() % 4 == 0) return {};
    return plain.size() * 8 % 6 != 0 ? "Base64 syntax checker: Cannot parse invalid Base64 string "
                                       "- padding is not correct"
                                     : "Base64 syntax checker: Cannot parse invalid Base64 string "
                                       "- contains letters outside strict base "
                                       "64 range (or whitespace)";
}

std::string check_code(std::string_view text, bool epp, const ValidateOptions& options) {
    try {
        if (options.nesting > 20)
            throw base::PuppetError(kNestingMessage, "SYNTAX_ERROR",
                                    base::PuppetError::Class::Parse);
        ValidateOptions inner = options;
        inner.modulepath.clear();
        ++inner.nesting;
        auto tree = parse({}, std::string(text), {.epp = epp, .tasks = options.tasks});
        base::NullSink null_sink;
        report_issues(validate(*tree, inner), null_sink);
    } catch (const base::PuppetError& error) {
        return fmt::format("{} syntax checker: \"{}\"", epp ? "EPP" : "PP",
                           excerpt(error.full_text(), 500));
    }
    return {};
}

}  // namespace

std::optional<base::PuppetError> check_text_syntax(std::string_view text, std::string_view syntax,
                                                   const base::Location& where,
                                                   const ValidateOptions& options) {
    // "data+json" is looked up under the full name, then as "json". pp and epp have no such
    // combinations.
    for (std::string_view name = syntax;;) {
        std::string message;
        const char* code = nullptr;
        if (name == "json") {
            code = "ILLEGAL_JSON";
            // For an empty text, JSON.parse reports an unexpected end.
            const bool blank = text.find_first_not_of(" \t\r\n") == text.npos;
            if (const std::string error =
                    blank ? "859: unexpected token at ''" : codec::json_error(text, "");
                !error.empty()) {
                message =
                    fmt::format("JSON syntax checker: Cannot parse invalid JSON string. \"{}\"",
                                excerpt(error, 100));
            }
        } else if (name == "base64") {
            code = "ILLEGAL_BASE64";
            message = check_base64(text);
        } else if (name == "pp" || name == "epp") {
            code = name == "pp" ? "ILLEGAL_PP" : "ILLEGAL_EPP";
            message = check_code(text, name == "epp", options);
        }
        if (code) {
            if (message.empty()) return std::nullopt;
            base::PuppetError error(
                fmt::format("Invalid produced text having syntax: '{}'. {}", syntax, message), code,
                base::PuppetError::Class::Parse);
            error.at(where);
            return error;
        }
        const std::size_t plus = name.find('+');
        if (plus == std::string_view::npos) return std::nullopt;
        name.remove_prefix(plus + 1);
    }
}

}  // namespace bunraku::syntax
