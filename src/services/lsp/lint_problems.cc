// SPDX-License-Identifier: Apache-2.0
#include "services/lsp/lint_problems.h"

#include "language/lint/lint.h"
#include "services/lsp/recovery.h"

namespace bunraku::lsp {

namespace {

/// Bytes of the longest text whose style is checked. Some checks of lint take quadratic time, and
/// diagnostics run at each keystroke.
constexpr std::size_t kMaxLinted = 128 * 1024;

}  // namespace

void check_lint(const OpenFile& file, std::vector<Problem>& out) {
    if (file.parsed.error) return;  // lint expects code without syntax errors
    if (file.document.text().size() > kMaxLinted) return;
    const Document& document = file.document;
    for (const auto& found : lint::lint(document.text(), document.path()).problems) {
        if (found.severity == lint::Severity::Ignored || found.check == "syntax") continue;
        Problem problem;
        problem.span.offset =
            offset_of_location(document.text(), document.lines(), {"", found.line, found.column});
        problem.severity =
            found.severity == lint::Severity::Error ? Severity::Warning : Severity::Information;
        problem.code = found.check;
        problem.message = found.message;
        out.push_back(std::move(problem));
    }
}

std::optional<std::string> lint_fixed(const std::string& path, const std::string& text) {
    if (text.size() > kMaxLinted) return std::nullopt;
    lint::LintOptions options;
    options.fix = true;
    auto fixed = lint::lint(text, path, options).fixed_text;
    return fixed && *fixed != text ? std::move(fixed) : std::nullopt;
}

}  // namespace bunraku::lsp
