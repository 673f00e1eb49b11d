// SPDX-License-Identifier: Apache-2.0
// Checks of the spaces around the arrows (=>) of attributes.
#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <string>

#include "language/lint/checks/checks.h"
#include "language/lint/checks/spaces.h"

namespace bunraku::lint {

using T = TokenType;

namespace {

/// Returns the tokens of a resource without comments.
std::vector<Token*> without_comments(const Manifest& manifest, const ResourceBody& resource) {
    std::vector<Token*> out;
    for (Token* token : manifest.tokens(resource.range))
        if (!token->is(T::Comment, T::SlashComment, T::MultilineComment)) out.push_back(token);
    return out;
}

enum class Arrows { None, OneLine, SeveralLines };

Arrows arrow_lines(const std::vector<Token*>& tokens) {
    const Token* first = nullptr;
    const Token* last = nullptr;
    for (const Token* token : tokens) {
        if (!token->is(T::FatArrow)) continue;
        if (!first) first = token;
        last = token;
    }
    if (!first) return Arrows::None;
    return first->line == last->line ? Arrows::OneLine : Arrows::SeveralLines;
}

/// The name before an arrow: where it begins, and how long it is.
struct AttributeName {
    const Token* last;   ///< the last token of the name
    const Token* first;  ///< differs from `last` for a string with variables
    int length = 0;
};

AttributeName name_before(const Token& arrow) {
    AttributeName name{arrow.previous_code, arrow.previous_code};
    if (!name.last) return name;
    name.length = static_cast<int>(length_of(*name.last));
    if (!name.last->is(T::StringPost)) return name;
    while (!name.first->is(T::StringPre) && name.first->previous) {
        name.first = name.first->previous;
        name.length += static_cast<int>(length_of(*name.first));
    }
    return name;
}

/// Finds the arrows of one resource that are not aligned. Arrows between the same braces share a
/// column.
class Alignment {
public:
    explicit Alignment(Report& report) : report_(report) {}

    void check(const std::vector<Token*>& tokens) {
        for (Token* token : tokens) {
            if (token->is(T::FatArrow)) {
                add(token);
            } else if (token->is(T::LeftBrace)) {
                if (++depth_ == levels_.size()) levels_.emplace_back();
            } else if (token->is(T::RightBrace, T::Semicolon)) {
                report_misaligned(levels_[depth_]);
                levels_[depth_] = {};
                if (depth_ > 0) --depth_;
            }
        }
    }

private:
    struct Level {
        int column = 0;  ///< where the arrows of this level belong
        std::optional<int> name_column;
        std::vector<Token*> arrows;
        std::map<int, const Token*> first_of_line;
    };

    void add(Token* arrow) {
        const AttributeName name = name_before(*arrow);
        if (!name.last) return;
        Level& level = levels_[depth_];
        if (!level.name_column) level.name_column = name.first->column;
        const bool shares_line = !level.first_of_line.emplace(arrow->line, arrow).second;
        const int column = shares_line
                               ? *level.name_column + name.length + 1
                               : name.last->column + static_cast<int>(length_of(*name.last)) + 1;
        level.column = std::max(level.column, column);
        level.arrows.push_back(arrow);
    }

    void report_misaligned(const Level& level) {
        if (level.first_of_line.size() < 2) return;
        for (Token* arrow : level.arrows) {
            if (arrow->column == level.column) continue;
            Finding& finding = report_.warning(
                arrow, fmt::format("indentation of => is not properly aligned (expected in column "
                                   "{}, but found it in column {})",
                                   level.column, arrow->column));
            finding.expected = level.column;
            finding.actual = level.name_column.value_or(1) - 1;  // the indent of a new line
            finding.new_line = level.first_of_line.at(arrow->line) != arrow;
        }
    }

    Report& report_;
    std::vector<Level> levels_{1};
    std::size_t depth_ = 0;
};

/// Puts the attribute on a new line. Returns the number of spaces before its arrow, or
/// nullopt if the line cannot be split there.
std::optional<int> start_new_line(TokenStream& stream, const Finding& finding) {
    const Token* name = finding.token->previous_code;
    Token* blank = name ? name->previous : nullptr;
    if (!is_a(blank, T::Whitespace, T::Indent) || !blank->listed) return std::nullopt;
    stream.insert_unlinked_before(blank, stream.make(T::Newline, "\n"));
    blank->type = T::Indent;
    blank->value = stream.keep(std::string(static_cast<std::size_t>(finding.actual), ' '));

    const Token* indent = previous_of(finding.token, {T::Indent, T::Newline}, {.reach = kReach});
    int length = 1;
    for (const Token* at = indent && indent->listed ? indent : blank; at; at = at->text_after) {
        length += static_cast<int>(length_of(*at));
        if (at == name || length > finding.expected) break;
    }
    return finding.expected - length;
}

bool align_arrow(TokenStream& stream, const Finding& finding) {
    Token* arrow = finding.token;
    std::optional<int> spaces;
    if (finding.new_line) {
        spaces = start_new_line(stream, finding);
    } else {
        spaces = finding.expected - arrow->column;
        if (is_a(arrow->previous, T::Whitespace))
            *spaces += static_cast<int>(length_of(*arrow->previous));
    }
    if (!spaces || *spaces < 0 || !arrow->previous) return false;
    const std::string_view blanks =
        stream.keep(std::string(static_cast<std::size_t>(*spaces), ' '));
    if (arrow->previous->is(T::Whitespace)) {
        arrow->previous->value = blanks;
        return true;
    }
    if (!arrow->previous->listed) return false;
    stream.insert_unlinked_after(arrow->previous, stream.make(T::Whitespace, blanks));
    return true;
}

}  // namespace

const Check check_arrow_alignment{
    .name = "arrow_alignment",
    .description = "The arrows of a resource are in one column.",
    .run =
        [](const Manifest& manifest, Report& report) {
            for (const ResourceBody& resource : manifest.resources()) {
                const auto tokens = without_comments(manifest, resource);
                if (arrow_lines(tokens) == Arrows::SeveralLines) Alignment(report).check(tokens);
            }
        },
    .fix = align_arrow};

const Check check_space_before_arrow{
    .name = "space_before_arrow",
    .description = "In a resource on one line, there is one space before each arrow.",
    .run =
        [](const Manifest& manifest, Report& report) {
            for (const ResourceBody& resource : manifest.resources()) {
                const auto tokens = without_comments(manifest, resource);
                if (arrow_lines(tokens) != Arrows::OneLine) continue;
                for (const Token* token : tokens) {
                    if (!token->is(T::FatArrow) || !token->previous ||
                        token->previous->value == " ")
                        continue;
                    Token* before = token->previous;
                    report.warning(
                        before,
                        fmt::format(
                            "there should be a single space before '=>' on line {}, column {}",
                            before->line, before->column));
                }
            }
        },
    .fix = make_single_space};

const Check check_manifest_whitespace_arrows_single_space_after{
    .name = "manifest_whitespace_arrows_single_space_after",
    .group = CheckGroup::Plugin,
    .description = "There is one space after an arrow.",
    .run =
        [](const Manifest& manifest, Report& report) {
            for (const Token* token : manifest.tokens()) {
                if (token->is(T::FatArrow) && token->next && !is_single_space(token->next))
                    report.error(token->next, "there should be a single space after an arrow");
            }
        },
    .fix = make_single_space};

}  // namespace bunraku::lint
