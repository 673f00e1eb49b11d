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
        if (const auto end = manifest.block_ends().after(i)) found.push_back({i, *end});
    }
    return found;
}

/// A case statement with those that begin in it, and in turn in these.
struct CaseGroup {
    std::size_t last = 0;  ///< the last token
    std::size_t next = 0;  ///< number of the first statement after the group
};

std::vector<CaseGroup> group_cases(const std::vector<TokenRange>& cases) {
    std::vector<CaseGroup> groups(cases.size());
    for (std::size_t i = cases.size(); i-- > 0;) {
        CaseGroup group{cases[i].last, i + 1};
        while (group.next < cases.size() && cases[group.next].first <= group.last) {
            const CaseGroup& inner = groups[group.next];
            group.last = std::max(group.last, inner.last);
            group.next = inner.next;
        }
        groups[i] = group;
    }
    return groups;
}

/// Reports whether the statement `cases[number]` has a default, apart from the statements in it.
bool has_default(const Manifest& manifest, const std::vector<TokenRange>& cases,
                 const std::vector<CaseGroup>& groups, std::size_t number) {
    int depth = 0;
    std::size_t inner = number + 1;  // the next statement
    for (std::size_t i = cases[number].first; i <= cases[number].last; ++i) {
        if (inner < cases.size() && i == cases[inner].first) {
            i = groups[inner].last;
            inner = groups[inner].next;
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
                                           const auto groups = group_cases(cases);
                                           for (std::size_t i = 0; i < cases.size(); ++i) {
                                               if (!has_default(manifest, cases, groups, i))
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
