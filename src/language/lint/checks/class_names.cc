// SPDX-License-Identifier: Apache-2.0
// The plugin absolute_classname-check: names of classes do not begin with colons.
#include "language/lint/checks/checks.h"

namespace bunraku::lint {

using T = TokenType;

namespace {

/// Like in the plugin, a name belongs to every function or keyword before it on the line. Without a
/// limit, the number of problems of one line would be quadratic.
constexpr int kMaxSharedNames = 16;

bool is_inclusion(const Token& token) {
    return token.is(T::Name, T::FunctionName) &&
           (token.value == "include" || token.value == "contain" || token.value == "require");
}

/// Reports absolute names among the arguments of include, contain or require.
void check_inclusion(const Token& function, Report& report, std::string_view message) {
    Token* at = function.next_code;
    if (!at || at->is(T::FatArrow)) return;
    int calls = 0, others = 0;
    for (; at && !at->is(T::Newline); at = at->next) {
        if (is_inclusion(*at) && ++others > kMaxSharedNames) return;
        if (!at->is(T::Name, T::FunctionName, T::SingleQuoted)) continue;
        if (is_a(at->next_code, T::LeftParen))
            ++calls;
        else if (calls > 0 && is_a(at->next_code, T::RightParen))
            --calls;
        else if (calls == 0 && at->value.starts_with("::"))
            report.warning(at, std::string(message));
    }
}

/// Reports absolute names from `at` up to a token of type `end`.
void check_names_until(Token* at, TokenType end, Report& report, std::string_view message) {
    int others = 0;
    for (; at && !at->is(end); at = at->next) {
        if (at->is(T::Class, T::Type) && ++others > kMaxSharedNames) return;
        if (at->is(T::Name, T::SingleQuoted) && at->value.starts_with("::"))
            report.warning(at, std::string(message));
    }
}

void find_absolute_inclusions(const Manifest& manifest, Report& report) {
    constexpr std::string_view kMessage = "class included by absolute name (::$class)";
    for (Token* token : manifest.tokens()) {
        if (is_inclusion(*token)) {
            check_inclusion(*token, report, kMessage);
        } else if (token->is(T::Class) && is_a(token->next_code, T::LeftBrace)) {
            check_names_until(token->next_code, T::Colon, report, kMessage);
        } else if (token->is(T::Inherits) && is_a(token->next_code, T::Name) &&
                   token->next_code->value.starts_with("::")) {
            report.warning(token->next_code, std::string(kMessage));
        }
    }
}

bool remove_leading_colons(TokenStream&, const Finding& finding) {
    if (!finding.token->value.starts_with("::")) return false;
    finding.token->value.remove_prefix(2);
    return true;
}

}  // namespace

const Check check_relative_classname_inclusion{
    .name = "relative_classname_inclusion",
    .group = CheckGroup::Plugin,
    .description = "Included classes have no leading colons.",
    .run = find_absolute_inclusions,
    .fix = remove_leading_colons};

const Check check_relative_classname_reference{
    .name = "relative_classname_reference",
    .group = CheckGroup::Plugin,
    .description = "References to classes have no leading colons.",
    .run =
        [](const Manifest& manifest, Report& report) {
            for (Token* token : manifest.tokens()) {
                if (token->is(T::Type) && token->value == "Class" &&
                    is_a(token->next_code, T::LeftBracket))
                    check_names_until(token->next_code, T::RightBracket, report,
                                      "absolute class name reference");
            }
        },
    .fix = remove_leading_colons};

}  // namespace bunraku::lint
