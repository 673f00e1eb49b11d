// SPDX-License-Identifier: Apache-2.0
// Checks of case statements and selectors.
#include <algorithm>
#include <optional>

#include "language/lint/checks/checks.h"

namespace bunraku::lint {

using T = TokenType;

namespace {

std::vector<TokenRange> case_statements(const Manifest& manifest) {
    std::vector<TokenRange> found;
    const auto tokens = manifest.tokens();
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (!tokens[i]->is(T::Case)) continue;
        int depth = 0;
        for (std::size_t j = i + 1; j < tokens.size(); ++j) {
            if (tokens[j]->is(T::LeftBrace)) ++depth;
            if (!tokens[j]->is(T::RightBrace) || --depth != 0) continue;
            found.push_back({i, j});
            break;
        }
    }
    return found;
}

/// Reports whether the statement `cases[number]` has a default, apart from the statements in it.
bool has_default(const Manifest& manifest, const std::vector<TokenRange>& cases,
                 std::size_t number) {
    int depth = 0;
    std::size_t inner = number + 1;  // the next statement
    for (std::size_t i = cases[number].first; i <= cases[number].last; ++i) {
        if (inner < cases.size() && i == cases[inner].first) {
            std::size_t last = cases[inner].last;
            // The statements in it are part of it.
            while (inner < cases.size() && cases[inner].first <= last)
                last = std::max(last, cases[inner++].last);
            i = last;
            continue;
        }
        const Token& token = *manifest.tokens()[i];
        if (token.is(T::LeftBrace)) ++depth;
        if (token.is(T::RightBrace)) --depth;
        if (token.is(T::Default) && depth == 1) return true;
    }
    return false;
}

}  // namespace

const Check check_case_without_default{.name = "case_without_default",
                                       .description = "Every case statement has a default.",
                                       .run = [](const Manifest& manifest, Report& report) {
                                           const auto cases = case_statements(manifest);
                                           for (std::size_t i = 0; i < cases.size(); ++i) {
                                               if (!has_default(manifest, cases, i))
                                                   report.warning(
                                                       manifest.tokens()[cases[i].first],
                                                       "case statement without a default case");
                                           }
                                       }};

const Check check_selector_inside_resource{
    .name = "selector_inside_resource",
    .description = "There is no selector in a resource.",
    .run = [](const Manifest& manifest, Report& report) {
        for (const ResourceBody& resource : manifest.resources()) {
            for (Token* token : manifest.tokens(resource.range)) {
                if (token->is(T::FatArrow) && is_a(token->next_code, T::Variable) &&
                    is_a(token->next_code->next_code, T::QuestionMark))
                    report.warning(token, "selector inside resource block");
            }
        }
    }};

}  // namespace bunraku::lint
