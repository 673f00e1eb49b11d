// SPDX-License-Identifier: Apache-2.0
// Checks of the names of variables, and of variables in strings.
#include <algorithm>
#include <fmt/format.h>

#include "core/base/text.h"
#include "language/lint/characters.h"
#include "language/lint/checks/checks.h"
#include "language/lint/checks/names.h"
#include "language/lint/lexer.h"

namespace bunraku::lint {

using T = TokenType;

namespace {

/// Returns the size of the indexes at the start of the text: "[1]['a']".
std::size_t index_size(std::string_view text) {
    int depth = 0;
    for (std::size_t i = 0; i < text.size(); ++i) {
        if (text[i] == '[') ++depth;
        if (text[i] == ']') --depth;
        if (depth == 0 && char_at(text, i + 1) != '[') return i + 1;
    }
    return text.size();
}

/// Moves the part of an unenclosed name from its first dash on to the text after it.
void end_at_dash(TokenStream& stream, Token* variable) {
    const std::size_t dash = variable->value.find('-');
    if (dash == std::string_view::npos) return;
    if (variable->next) {
        variable->next->value =
            stream.keep(fmt::format("{}{}", variable->value.substr(dash), variable->next->value));
    }
    variable->value = variable->value.substr(0, dash);
}

bool enclose_variable(TokenStream& stream, const Finding& finding) {
    Token* variable = finding.token;
    Token* after = variable->next;
    if (is_a(after, T::StringMid, T::StringPost, T::HeredocMid, T::HeredocPost) &&
        after->value.starts_with('[')) {
        const std::size_t size = index_size(after->value);
        TokenStream index = stream.sibling();
        if (tokenise(after->value.substr(0, size), index) || !after->listed) return false;
        variable->type = T::Variable;
        for (Token* token : index.tokens()) {
            token->listed = false;  // moves to this stream
            stream.insert_before(after, token);
        }
        after->value = after->value.substr(size);
    }
    variable->type = T::Variable;
    end_at_dash(stream, variable);
    return true;
}

void find_uppercase(const Manifest& manifest, Report& report, std::string_view message) {
    for (Token* token : manifest.tokens())
        if (token->is(T::Variable, T::UnenclosedVariable) &&
            std::ranges::any_of(without_indexes(token->value), is_upper))
            report.warning(token, std::string(message));
}

/// Reports whether the name is "::NAMESPACE::...".
bool has_absolute_namespace(std::string_view name) {
    if (!name.starts_with("::") || is_upper(char_at(name, 2))) return false;
    std::size_t end = 2;
    while (is_word(char_at(name, end))) ++end;
    return end >= 4 && name.substr(end).starts_with("::");
}

}  // namespace

const Check check_variables_not_enclosed{
    .name = "variables_not_enclosed",
    .description = "Variables in strings are enclosed in braces.",
    .run =
        [](const Manifest& manifest, Report& report) {
            for (Token* token : manifest.tokens())
                if (token->is(T::UnenclosedVariable))
                    report.warning(token, "variable not enclosed in {}");
        },
    .fix = enclose_variable};

const Check check_variable_contains_dash{
    .name = "variable_contains_dash",
    .description = "Names of variables have no dash.",
    .run = [](const Manifest& manifest, Report& report) {
        for (Token* token : manifest.tokens())
            if (token->is(T::Variable, T::UnenclosedVariable) &&
                without_indexes(token->value).contains('-'))
                report.warning(token, "variable contains a dash");
    }};

const Check check_variable_is_lowercase{.name = "variable_is_lowercase",
                                        .description = "Names of variables are in lower case.",
                                        .run = [](const Manifest& manifest, Report& report) {
                                            find_uppercase(manifest, report,
                                                           "variable contains an uppercase letter");
                                        }};

const Check check_variable_contains_upcase{
    .name = "variable_contains_upcase",
    .group = CheckGroup::Plugin,
    .description = "Names of variables are in lower case, with a fix.",
    .run =
        [](const Manifest& manifest, Report& report) {
            find_uppercase(manifest, report, "variable contains a capital letter");
        },
    .fix =
        [](TokenStream& stream, const Finding& finding) {
            finding.token->value = stream.keep(base::lower(finding.token->value));
            return true;
        }};

const Check check_topscope_variable{
    .name = "topscope_variable",
    .group = CheckGroup::Plugin,
    .description = "Qualified names of variables do not begin with colons.",
    .run =
        [](const Manifest& manifest, Report& report) {
            if (manifest.classes().empty() && manifest.defined_types().empty()) return;
            for (Token* token : manifest.tokens()) {
                if (token->is(T::Variable) && has_absolute_namespace(token->value))
                    report.warning(token, fmt::format("use ${} instead of ${}",
                                                      token->value.substr(2), token->value));
            }
        },
    .fix =
        [](TokenStream&, const Finding& finding) {
            if (finding.token->value.starts_with("::")) finding.token->value.remove_prefix(2);
            return true;
        }};

}  // namespace bunraku::lint
