// SPDX-License-Identifier: Apache-2.0
#include "unit/language/format/oracle.h"

#include <fmt/format.h>

#include "core/base/diagnostic.h"
#include "language/format/format.h"
#include "language/syntax/parser.h"

namespace bunraku::format {

namespace {

/// Returns the tree without positions, or nullopt if the text is not valid.
std::optional<std::string> tree_of(std::string_view text) {
    try {
        return syntax::dump_pn(syntax::parse("test.pp", std::string(text))->program);
    } catch (const base::PuppetError&) {
        return std::nullopt;
    }
}

/// Checks what must hold for a text after formatting all or some of its lines.
std::string compare(const std::string& tree, const std::vector<std::string>& comments,
                    std::string_view after) {
    const auto new_tree = tree_of(after);
    if (!new_tree) return "is not valid any more";
    if (*new_tree != tree) return "has another tree";
    std::size_t at = 0;
    for (const std::string& comment : comments) {
        at = after.find(comment, at);
        if (at == std::string_view::npos) return fmt::format("lost the comment '{}'", comment);
        at += comment.size();
    }
    return {};
}

std::string check(std::string_view text, const std::string& tree,
                  const std::vector<std::string>& comments, int first_line) {
    const auto formatted = format::format(text, "test.pp");
    if (!formatted) return formatted.error().message;
    if (std::string problem = compare(tree, comments, *formatted); !problem.empty())
        return fmt::format("the formatted text {}:\n{}", problem, *formatted);
    const auto again = format::format(*formatted, "test.pp");
    if (!again) return again.error().message;
    if (*again != *formatted)
        return fmt::format("formatting twice gives\n{}\ninstead of\n{}", *again, *formatted);
    if (formatted->find('\t') != std::string::npos) return "a tab is left:\n" + *formatted;
    if (formatted->find(" \n") != std::string::npos) return "blanks at a line end:\n" + *formatted;

    const auto all = format_range(text, "test.pp", {1, 1 << 30});
    if (!all) return all.error().message;
    if (apply_edits(text, *all) != *formatted)
        return fmt::format("the edits give\n{}\ninstead of\n{}", apply_edits(text, *all),
                           *formatted);
    const auto some = format_range(text, "test.pp", {first_line, first_line + 3});
    if (!some) return some.error().message;
    const std::string partly = apply_edits(text, *some);
    if (std::string problem = compare(tree, comments, partly); !problem.empty())
        return fmt::format("the text with some lines formatted {}:\n{}", problem, partly);
    return {};
}

}  // namespace

Verdict judge(std::string_view text, const std::vector<std::string>& comments, int first_line,
              std::string* problem) {
    const auto tree = tree_of(text);
    if (!tree) return Verdict::Invalid;
    *problem = check(text, *tree, comments, first_line);
    return problem->empty() ? Verdict::Good : Verdict::Bad;
}

}  // namespace bunraku::format
