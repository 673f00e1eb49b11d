// SPDX-License-Identifier: Apache-2.0
// puppet-lint's own checks of lines, tabs and blanks.
#include <fmt/format.h>

#include "language/lint/checks/checks.h"

namespace bunraku::lint {

using T = TokenType;

namespace {

/// Reports lines that are longer than `limit`, except lines with URLs and calls of template().
void find_long_lines(const Manifest& manifest, Report& report, int limit) {
    for (std::size_t i = 0; i < manifest.lines().size(); ++i) {
        const std::string_view line = manifest.lines()[i];
        const auto most = static_cast<std::size_t>(limit);
        if (line.size() <= most || line.contains("://") || line.contains("template(") ||
            count_characters(line) <= most)
            continue;
        report.warning_at(static_cast<int>(i) + 1, limit,
                          fmt::format("line has more than {} characters", limit));
    }
}

bool replace_tabs(TokenStream& stream, const Finding& finding) {
    std::string text;
    for (const char c : finding.token->value) text += c == '\t' ? "  " : std::string(1, c);
    finding.token->value = stream.keep(text);
    return true;
}

bool remove_blanks(TokenStream& stream, const Finding& finding) {
    Token* token = finding.token;
    if (token->previous) token->previous->next = token->next;
    if (token->next) token->next->previous = token->previous;
    stream.erase(token);
    return true;
}

}  // namespace

const Check check_140chars{.name = "140chars",
                           .description = "Lines have at most 140 characters.",
                           .run = [](const Manifest& manifest, Report& report) {
                               find_long_lines(manifest, report, 140);
                           }};

const Check check_80chars{
    .name = "80chars",
    .description = "Lines have at most 80 characters.",
    .run = [](const Manifest& manifest, Report& report) { find_long_lines(manifest, report, 80); },
    .enabled = false};

const Check check_2sp_soft_tabs{
    .name = "2sp_soft_tabs",
    .description = "Indents are multiples of two spaces.",
    .run = [](const Manifest& manifest, Report& report) {
        for (Token* token : manifest.tokens())
            if (token->is(T::Indent) && count_characters(token->value) % 2 != 0)
                report.error(token, "two-space soft tabs not used");
    }};

const Check check_hard_tabs{
    .name = "hard_tabs",
    .description = "There are no tabs.",
    .run =
        [](const Manifest& manifest, Report& report) {
            for (Token* token : manifest.tokens())
                if (token->is(T::Indent, T::Whitespace) && token->value.contains('\t'))
                    report.error(token, "tab character found");
        },
    .fix = replace_tabs};

const Check check_trailing_whitespace{.name = "trailing_whitespace",
                                      .description = "No line ends with blanks.",
                                      .run =
                                          [](const Manifest& manifest, Report& report) {
                                              for (Token* token : manifest.tokens())
                                                  if (token->is(T::Indent, T::Whitespace) &&
                                                      (!token->next || token->next->is(T::Newline)))
                                                      report.error(token,
                                                                   "trailing whitespace found");
                                          },
                                      .fix = remove_blanks};

}  // namespace bunraku::lint
