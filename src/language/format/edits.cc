// SPDX-License-Identifier: Apache-2.0
#include "language/format/edits.h"

#include <algorithm>

#include "core/base/assert.h"

namespace bunraku::format {

namespace {

bool optional_token(const Lexeme& lexeme) {
    return lexeme.kind == syntax::Tok::Comma || lexeme.kind == syntax::Tok::Semic;
}

bool same(const Lexeme& a, const Lexeme& b) {
    return a.text == b.text && (a.kind == syntax::Tok::End) == (b.kind == syntax::Tok::End);
}

/// Removes what both ends of an edit have in common.
void shorten(TextEdit& edit, std::string_view text) {
    const std::string_view old = text.substr(edit.begin, edit.end - edit.begin);
    const auto [left, ours] =
        std::mismatch(old.begin(), old.end(), edit.text.begin(), edit.text.end());
    const auto prefix = static_cast<std::size_t>(left - old.begin());
    const std::size_t rest = std::min(old.size(), edit.text.size()) - prefix;
    std::size_t suffix = 0;
    while (suffix < rest &&
           old[old.size() - 1 - suffix] == edit.text[edit.text.size() - 1 - suffix])
        ++suffix;
    edit.text = edit.text.substr(prefix, edit.text.size() - prefix - suffix);
    edit.begin += static_cast<std::uint32_t>(prefix);
    edit.end -= static_cast<std::uint32_t>(suffix);
}

}  // namespace

std::vector<TextEdit> edits_between(const Manifest& before, const Manifest& after) {
    const std::string_view old_text = before.tree->source->text();
    const std::string_view new_text = after.tree->source->text();
    std::vector<TextEdit> edits;
    std::uint32_t old_from = 0, new_from = 0;  // ends of the last tokens that both texts share
    // The comments and heredocs that were read in the old text, but not yet in the new one.
    std::ptrdiff_t comments = 0, heredocs = 0;
    std::size_t i = 0, k = 0;
    while (i < before.lexemes.size() && k < after.lexemes.size()) {
        const Lexeme& a = before.lexemes[i];
        const Lexeme& b = after.lexemes[k];
        const bool shared = same(a, b);
        const bool removed = !shared && optional_token(a);
        const bool added = !shared && !removed && optional_token(b);
        if (!shared && !removed && !added) {
            const auto end = static_cast<std::uint32_t>(old_text.size());
            return {{0, end, std::string(new_text)}};
        }
        if (shared || removed) {
            comments += static_cast<std::ptrdiff_t>(a.comments.size());
            heredocs += a.heredocs_before;
            ++i;
        }
        if (shared || added) {
            comments -= static_cast<std::ptrdiff_t>(b.comments.size());
            heredocs -= b.heredocs_before;
            ++k;
        }
        if (!shared || comments != 0 || heredocs != 0) continue;
        TextEdit edit{old_from, a.offset,
                      std::string(new_text.substr(new_from, b.offset - new_from))};
        if (old_text.substr(edit.begin, edit.end - edit.begin) != edit.text) {
            shorten(edit, old_text);
            edits.push_back(std::move(edit));
        }
        old_from = a.end();
        new_from = b.end();
    }
    BUNRAKU_ASSERT(old_from == old_text.size() && new_from == new_text.size());
    return edits;
}

}  // namespace bunraku::format
