// SPDX-License-Identifier: Apache-2.0
// The plugin resource_reference_syntax: the form of references to resources.
#include <algorithm>

#include "language/lint/checks/checks.h"

namespace bunraku::lint {

using T = TokenType;

namespace {

bool takes_references(std::string_view attribute) {
    constexpr std::string_view kAttributes[] = {"require", "subscribe", "notify",
                                                "before",  "consume",   "export"};
    return std::ranges::find(kAttributes, attribute) != std::end(kAttributes);
}

bool is_attribute(const ResourceBody& resource, const Token* token) {
    const auto found =
        std::ranges::lower_bound(resource.attributes, token->index, {}, &Token::index);
    return found != resource.attributes.end() && *found == token;
}

/// Reports the titles of references (`File[title]`) in relationships that have the given type.
void find_titles(const Manifest& manifest, Report& report, TokenType type,
                 std::string_view message) {
    for (const ResourceBody& resource : manifest.resources()) {
        for (const Token* name : resource.attributes) {
            if (!takes_references(name->value)) continue;
            for (const Token* at = name->next_code->next; at; at = at->next) {
                // A value ends with the resource or at the next attribute. Like in puppet-lint, it
                // also ends at a comment.
                if (!resource.range.contains(at->index) ||
                    at->is(T::Comment, T::SlashComment, T::MultilineComment) ||
                    is_attribute(resource, at))
                    break;
                if (!at->is(T::ClassReference) || !is_a(at->next, T::LeftBracket)) continue;
                Token* title = at->next->next;
                if (is_a(title, type)) report.error(title, std::string(message));
            }
        }
    }
}

/// Returns the tokens of a type that are followed by blanks and a bracket.
std::vector<Token*> blanks_before_title(const Manifest& manifest, TokenType type) {
    std::vector<Token*> found;
    for (Token* token : manifest.tokens()) {
        if (token->is(type) && is_a(token->next, T::Whitespace) &&
            is_a(token->next_code, T::LeftBracket))
            found.push_back(token);
    }
    return found;
}

void report_blanks(const std::vector<Token*>& tokens, Report& report) {
    for (Token* token : tokens) report.error(token, "whitespce between reference type and title");
}

}  // namespace

const Check check_resource_reference_chain_without_whitespace{
    .name = "resource_reference_chain_without_whitespace",
    .group = CheckGroup::Plugin,
    .description = "There is no space between a built-in type and its bracket.",
    .run = [](const Manifest& manifest, Report& report) {
        report_blanks(blanks_before_title(manifest, T::Type), report);
    }};

const Check check_resource_reference_without_whitespace{
    .name = "resource_reference_without_whitespace",
    .group = CheckGroup::Plugin,
    .description = "There is no space between the type and the title of a reference.",
    .run = [](const Manifest& manifest, Report& report) {
        // The plugin repeats its problems for each resource of the file. A limit keeps their number
        // from being quadratic.
        constexpr std::size_t kMaxRepeated = 10'000;
        const auto tokens = blanks_before_title(manifest, T::ClassReference);
        for (std::size_t i = 0; i < manifest.resources().size(); ++i) {
            report_blanks(tokens, report);
            if (tokens.empty() || report.findings().size() > kMaxRepeated) return;
        }
    }};

const Check check_resource_reference_with_unquoted_title{
    .name = "resource_reference_with_unquoted_title",
    .group = CheckGroup::Plugin,
    .description = "Titles in references are quoted.",
    .run =
        [](const Manifest& manifest, Report& report) {
            find_titles(manifest, report, T::Name, "unquoted title in resource reference");
        },
    .fix =
        [](TokenStream&, const Finding& finding) {
            finding.token->type = T::SingleQuoted;
            return true;
        }};

const Check check_resource_reference_without_title_capital{
    .name = "resource_reference_without_title_capital",
    .group = CheckGroup::Plugin,
    .description = "Unquoted titles in references do not begin with a capital letter.",
    .run = [](const Manifest& manifest, Report& report) {
        find_titles(manifest, report, T::ClassReference,
                    "resource reference with title with capital letter");
    }};

}  // namespace bunraku::lint
