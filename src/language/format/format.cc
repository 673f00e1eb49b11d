// SPDX-License-Identifier: Apache-2.0
#include "language/format/format.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/diagnostic.h"
#include "language/format/edits.h"
#include "language/format/layout.h"
#include "language/format/lexemes.h"
#include "language/format/printer.h"
#include "language/syntax/parser.h"

namespace bunraku::format {

namespace {

std::vector<std::string_view> comment_texts(const Manifest& manifest) {
    std::vector<std::string_view> texts;
    for (const Lexeme& lexeme : manifest.lexemes) {
        for (const Comment& comment : lexeme.comments) texts.push_back(comment.text);
    }
    return texts;
}

/// A formatted text and its lexemes.
struct Formatted {
    std::string text;
    Manifest manifest;
};

/// Formats the manifest and checks that the result has the same tree and comments.
Result<Formatted> formatted(const Manifest& manifest, std::string_view path,
                            const FormatOptions& options) {
    Layout layout;
    Manifest copy = manifest;
    try {
        Printer(copy, layout).program(*manifest.tree->program);
    } catch (const base::PuppetError& error) {
        return base::failure(error.full_text());
    }
    Formatted out{layout.render(options.line_length), {}};
    out.manifest = BUNRAKU_TRY(read_manifest(out.text, path));
    const auto differs = [&](std::string_view what) {
        return base::failure(fmt::format(
            "The formatted text would have {}, so the text stays as it is (file: {})", what, path));
    };
    if (syntax::dump_pn(manifest.tree->program) != syntax::dump_pn(out.manifest.tree->program))
        return differs("another syntax tree");
    if (comment_texts(manifest) != comment_texts(out.manifest)) return differs("other comments");
    return out;
}

}  // namespace

Result<std::string> format(std::string_view text, std::string_view path,
                           const FormatOptions& options) {
    const Manifest manifest = BUNRAKU_TRY(read_manifest(text, path));
    return std::move(BUNRAKU_TRY(formatted(manifest, path, options)).text);
}

Result<std::vector<TextEdit>> format_range(std::string_view text, std::string_view path,
                                           LineRange range, const FormatOptions& options) {
    const Manifest manifest = BUNRAKU_TRY(read_manifest(text, path));
    const Formatted whole = BUNRAKU_TRY(formatted(manifest, path, options));
    std::vector<TextEdit> edits = edits_between(manifest, whole.manifest);
    const syntax::Source& source = *manifest.tree->source;
    std::erase_if(edits, [&](const TextEdit& edit) {
        return source.line_of(edit.end) < range.first || source.line_of(edit.begin) > range.last;
    });
    return edits;
}

std::string apply_edits(std::string_view text, const std::vector<TextEdit>& edits) {
    std::string out;
    std::size_t at = 0;
    for (const TextEdit& edit : edits) {
        BUNRAKU_ASSERT(edit.begin >= at && edit.begin <= edit.end && edit.end <= text.size());
        out += text.substr(at, edit.begin - at);
        out += edit.text;
        at = edit.end;
    }
    out += text.substr(at);
    return out;
}

}  // namespace bunraku::format
