// SPDX-License-Identifier: Apache-2.0
// Plugins that check values: numbers, comparisons of versions, and words in case and selectors.
#include "language/lint/characters.h"
#include "language/lint/checks/checks.h"

namespace bunraku::lint {

using T = TokenType;

namespace {

// Like in the plugins, a word is reported for each separator after it on its line, and for each
// statement around it. Without limits, the number of problems would be quadratic.
constexpr int kMaxKeywords = 2;     ///< keywords between a keyword and its block
constexpr int kMaxSeparators = 10;  ///< separators between a word and a separator

bool quote_value(TokenStream&, const Finding& finding) {
    finding.token->type = T::SingleQuoted;
    return true;
}

bool compares_numbers(const Token* comparison) {
    if (is_a(comparison, T::GreaterEqual, T::GreaterThan, T::LessEqual, T::LessThan)) return true;
    return is_a(comparison, T::IsEqual, T::NotEqual) && is_a(comparison->next_code, T::Number);
}

/// Turns `$version > 1.2` into `versioncmp($version, '1.2') > 0`.
bool use_versioncmp(TokenStream& stream, const Finding& finding) {
    Token* version = finding.token;
    Token* value = version->next_code ? version->next_code->next_code : nullptr;
    if (!is_a(value, T::Number, T::String, T::SingleQuoted, T::Name)) return false;
    if (!version->listed) return false;
    const std::string_view compared = value->value;
    value->type = T::Number;
    value->value = "0";
    Token* const after[] = {stream.make(T::Comma, ","), stream.make(T::Whitespace, " "),
                            stream.make(T::SingleQuoted, compared),
                            stream.make(T::RightParen, ")")};
    for (std::size_t i = std::size(after); i-- > 0;)
        stream.insert_unlinked_after(version, after[i]);
    stream.insert_unlinked_before(version, stream.make(T::Name, "versioncmp"));
    stream.insert_unlinked_before(version, stream.make(T::LeftParen, "("));
    return true;
}

/// Returns the parts of case statements or selectors that contain their conditions: everything but
/// the blocks of a case statement.
std::vector<TokenRange> condition_ranges(const Manifest& manifest, TokenType keyword) {
    std::vector<TokenRange> ranges;
    const auto tokens = manifest.tokens();
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        if (!tokens[i]->is(keyword)) continue;
        int depth = 0, others = 0;
        std::size_t first = i;
        for (std::size_t j = i + 1; j < tokens.size(); ++j) {
            if (depth <= 0 && tokens[j]->is(keyword) && ++others > kMaxKeywords) break;
            if (tokens[j]->is(T::LeftBrace)) {
                if (++depth < 2) continue;
                ranges.push_back({first, j});
                const auto end = manifest.block_ends().after(j);
                if (!end) break;
                first = j = *end;
                depth = 1;
            } else if (tokens[j]->is(T::RightBrace)) {
                if (--depth != 0) continue;
                ranges.push_back({first, j});
                break;
            }
        }
    }
    return ranges;
}

/// Reports words between the start of a line and a separator.
void find_unquoted_words(const Manifest& manifest, Report& report, TokenType keyword,
                         TokenType separator, std::string_view message) {
    for (const TokenRange& range : condition_ranges(manifest, keyword)) {
        for (const Token* token : manifest.tokens(range)) {
            if (!token->is(separator)) continue;
            int separators = 0;
            for (Token* at = token->previous; at && !at->is(T::Newline, T::LeftBrace);
                 at = at->previous) {
                if (at->is(separator) && ++separators > kMaxSeparators) break;
                if (at->is(T::Name) || (at->is(T::ClassReference) && !at->value.contains("::")))
                    report.warning(at, std::string(message));
            }
        }
    }
}

}  // namespace

const Check check_leading_zero{.name = "leading_zero",
                               .group = CheckGroup::Plugin,
                               .description = "Numbers with a leading zero are quoted.",
                               .run =
                                   [](const Manifest& manifest, Report& report) {
                                       for (Token* token : manifest.tokens())
                                           if (token->is(T::Number) && token->value[0] == '0' &&
                                               is_digit(char_at(token->value, 1)))
                                               report.warning(token,
                                                              "unquoted number with leading zero");
                                   },
                               .fix = quote_value};

const Check check_version_comparison{
    .name = "version_comparison",
    .group = CheckGroup::Plugin,
    .description = "Versions are compared by versioncmp, not as numbers.",
    .run =
        [](const Manifest& manifest, Report& report) {
            for (Token* token : manifest.tokens()) {
                if (token->is(T::Variable) &&
                    (token->value.ends_with("version") || token->value.ends_with("release")) &&
                    compares_numbers(token->next_code))
                    report.warning(token, "version compared as number");
            }
        },
    .fix = use_versioncmp};

const Check check_unquoted_string_in_case{
    .name = "unquoted_string_in_case",
    .group = CheckGroup::Plugin,
    .description = "Words in case statements are quoted.",
    .run =
        [](const Manifest& manifest, Report& report) {
            find_unquoted_words(manifest, report, T::Case, T::Colon, "unquoted string in case");
        },
    .fix = quote_value};

const Check check_unquoted_string_in_selector{
    .name = "unquoted_string_in_selector",
    .group = CheckGroup::Plugin,
    .description = "Words in selectors are quoted.",
    .run =
        [](const Manifest& manifest, Report& report) {
            find_unquoted_words(manifest, report, T::QuestionMark, T::FatArrow,
                                "unquoted string in selector");
        },
    .fix = quote_value};

}  // namespace bunraku::lint
