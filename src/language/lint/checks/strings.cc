// SPDX-License-Identifier: Apache-2.0
// Checks of strings.
#include "language/lint/checks/checks.h"

namespace bunraku::lint {

using T = TokenType;

namespace {

/// Reports whether a text has an escape or a character that needs double quotes. Like in
/// puppet-lint, so do as many spaces as the string's column, which look like the indent of a next
/// line.
bool needs_double_quotes(std::string_view text, int column) {
    int spaces = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        spaces = text[i] == ' ' ? spaces + 1 : 0;
        if (spaces >= column || std::string_view("'\r\t\n").contains(text[i])) return true;
        if (text[i] == '\\' && i + 1 < text.size() &&
            std::string_view("$\"'tsn\\").contains(text[i + 1]))
            return true;
    }
    return column <= 0;
}

void find_only_variables(const Manifest& manifest, Report& report) {
    const auto tokens = manifest.tokens();
    for (std::size_t i = 0; i + 2 < tokens.size(); ++i) {
        if (!tokens[i]->is(T::StringPre) || !tokens[i]->value.empty()) continue;
        Token* variable = tokens[i + 1];
        if (!variable->is(T::Variable, T::UnenclosedVariable)) continue;
        std::size_t end = i + 2;
        while (end < tokens.size() && tokens[end]->is(T::LeftBracket)) end += 3;  // "[", key, "]"
        if (end >= tokens.size() || !tokens[end]->is(T::StringPost) ||
            !tokens[end]->value.empty() || is_a(tokens[end]->next_code, T::FatArrow))
            continue;
        Finding& finding = report.warning(variable, "string containing only a variable");
        finding.begin = tokens[i];
        finding.end = tokens[end];
    }
}

/// Returns the position after "puppet://SERVER/" at or after `at`, or npos.
std::size_t puppet_url_path(std::string_view text, std::size_t at = 0) {
    constexpr std::string_view kScheme = "puppet://";
    const std::size_t begin = text.find(kScheme, at);
    if (begin == std::string_view::npos) return begin;
    const std::size_t slash = text.find('/', begin + kScheme.size());
    return slash == std::string_view::npos ? slash : slash + 1;
}

bool add_modules(TokenStream& stream, const Finding& finding) {
    const std::string_view text = finding.token->value;
    std::string out;
    std::size_t done = 0;
    for (std::size_t path; (path = puppet_url_path(text, done)) != std::string_view::npos;) {
        out.append(text.substr(done, path - done)).append("modules/");
        done = path;
    }
    finding.token->value = stream.keep(out.append(text.substr(done)));
    return true;
}

/// Reports whether the string is the argument of inline_epp or inline_template.
bool is_inline_template(const Token& string) {
    const Token* function = string.previous ? string.previous->previous : nullptr;
    return function &&
           (function->value.contains("inline_epp") || function->value.contains("inline_template"));
}

}  // namespace

const Check check_double_quoted_strings{
    .name = "double_quoted_strings",
    .description = "Strings without variables and escapes have single quotes.",
    .run =
        [](const Manifest& manifest, Report& report) {
            for (Token* token : manifest.tokens())
                if (token->is(T::String) && !needs_double_quotes(token->value, token->column))
                    report.warning(token, "double quoted string containing no variables");
        },
    .fix =
        [](TokenStream&, const Finding& finding) {
            finding.token->type = T::SingleQuoted;
            return true;
        }};

const Check check_only_variable_string{
    .name = "only_variable_string",
    .description = "A string does not consist of a single variable.",
    .run = find_only_variables,
    .fix = [](TokenStream& stream, const Finding& finding) {
        stream.remove(finding.begin);
        stream.remove(finding.end);
        finding.token->type = T::Variable;
        return true;
    }};

const Check check_puppet_url_without_modules{
    .name = "puppet_url_without_modules",
    .description = "The path of a puppet:// URL begins with modules/.",
    .run =
        [](const Manifest& manifest, Report& report) {
            for (Token* token : manifest.tokens()) {
                if (!token->is(T::SingleQuoted, T::String, T::StringPre) ||
                    !token->value.starts_with("puppet://"))
                    continue;
                const std::size_t path = puppet_url_path(token->value);
                if (path == std::string_view::npos ||
                    !token->value.substr(path).starts_with("modules/"))
                    report.warning(token, "puppet:// URL without modules/ found");
            }
        },
    .fix = add_modules};

const Check check_quoted_booleans{
    .name = "quoted_booleans",
    .description = "Booleans are not quoted.",
    .run =
        [](const Manifest& manifest, Report& report) {
            for (Token* token : manifest.tokens())
                if (token->is(T::String, T::SingleQuoted) &&
                    (token->value == "true" || token->value == "false"))
                    report.warning(token, "quoted boolean value found");
        },
    .fix =
        [](TokenStream&, const Finding& finding) {
            finding.token->type = finding.token->value == "true" ? T::True : T::False;
            return true;
        },
    .enabled = false};

const Check check_single_quote_string_with_variables{
    .name = "single_quote_string_with_variables",
    .description = "Strings with variables have double quotes.",
    .run = [](const Manifest& manifest, Report& report) {
        for (Token* token : manifest.tokens())
            if (token->is(T::SingleQuoted) && token->value.contains("${") &&
                !is_inline_template(*token))
                report.error(token, "single quoted string containing a variable found");
    }};

}  // namespace bunraku::lint
