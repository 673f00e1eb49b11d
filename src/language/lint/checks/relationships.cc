// SPDX-License-Identifier: Apache-2.0
// Checks of the chaining arrows between resources.
#include "language/lint/checks/checks.h"

namespace bunraku::lint {

using T = TokenType;

namespace {

/// Moves the arrow to the line of its right operand.
bool move_arrow(TokenStream& stream, const Finding& finding) {
    Token* arrow = finding.token;
    Token* left = arrow->previous_code;
    Token* right = arrow->next_code;
    if (!left || !right) return false;
    stream.remove(arrow);
    if (!right->listed || !right->text_before) return false;
    stream.insert_before(right, arrow);
    stream.insert_before(right, stream.make(T::Whitespace, " ", right->line, 3));
    Token* blank = left->next;
    if (is_a(blank, T::Whitespace) && is_a(blank->next, T::Newline, T::Whitespace))
        stream.remove(blank);
    return true;
}

}  // namespace

const Check check_arrow_on_right_operand_line{
    .name = "arrow_on_right_operand_line",
    .description = "A chaining arrow is on the line of its right operand.",
    .run =
        [](const Manifest& manifest, Report& report) {
            for (Token* token : manifest.tokens()) {
                if (token->is(T::InEdge, T::InEdgeSub) && token->next_code &&
                    token->next_code->line != token->line)
                    report.warning(token, "arrow should be on the right operand's line");
            }
        },
    .fix = move_arrow};

const Check check_right_to_left_relationship{
    .name = "right_to_left_relationship",
    .description = "Chaining arrows point to the right.",
    .run = [](const Manifest& manifest, Report& report) {
        for (Token* token : manifest.tokens())
            if (token->is(T::OutEdge)) report.warning(token, "right-to-left (<-) relationship");
    }};

}  // namespace bunraku::lint
