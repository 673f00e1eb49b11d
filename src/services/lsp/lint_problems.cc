// SPDX-License-Identifier: Apache-2.0
#include "services/lsp/lint_problems.h"

#include <algorithm>
#include <utility>

#include "compile/checks/code_checks.h"
#include "compile/checks/file_checks.h"
#include "language/lint/check.h"
#include "language/lint/lint.h"
#include "services/lsp/recovery.h"

namespace bunraku::lsp {

namespace {

/// Bytes of the longest text whose style is checked. Diagnostics run at each keystroke, and the
/// time of the checks is proportional to the size.
constexpr std::size_t kMaxLinted = std::size_t{1} << 20;

void add_problems(const OpenFile& file, std::vector<lint::Problem> found, Severity error,
                  Severity warning, std::vector<Problem>& out) {
    std::erase_if(found, [](const lint::Problem& problem) {
        return problem.severity == lint::Severity::Ignored;
    });
    std::ranges::stable_sort(found, {}, [](const lint::Problem& problem) {
        return std::pair(problem.line, problem.column);
    });
    // Each conversion of a column reads its line, which may be the whole text.
    if (found.size() > kMaxProblems) found.resize(kMaxProblems);
    const Document& document = file.document;
    for (lint::Problem& each : found) {
        Problem problem;
        problem.span.offset =
            offset_of_location(document.text(), document.lines(), {"", each.line, each.column});
        problem.severity = each.severity == lint::Severity::Error ? error : warning;
        problem.code = each.check;
        problem.message = std::move(each.message);
        problem.deprecated = each.check == "deprecated_function";
        out.push_back(std::move(problem));
    }
}

}  // namespace

void check_lint(const OpenFile& file, std::vector<Problem>& out) {
    if (file.parsed.error) return;  // lint expects code without syntax errors
    if (file.document.text().size() > kMaxLinted) return;
    auto found = lint::lint(file.document.text(), file.document.path()).problems;
    // A new document has no path yet.
    const bool unnamed = !file.document.path().starts_with('/');
    std::erase_if(found, [&](const lint::Problem& problem) {
        return problem.check == "syntax" || (unnamed && problem.check == "autoloader_layout");
    });
    add_problems(file, std::move(found), Severity::Warning, Severity::Information, out);
}

void check_code(const OpenFile& file, std::vector<Problem>& out) {
    if (file.parsed.error || !file.parsed.tree) return;
    const std::string& text = file.document.text();
    auto found = checks::check_tree(*file.parsed.tree, text, nullptr).all;
    if (file.kind == FileKind::Manifest) lint::apply_control_comments(text, found);
    add_problems(file, std::move(found), Severity::Warning, Severity::Warning, out);
}

void check_other_file(const OpenFile& file, std::vector<Problem>& out) {
    checks::DataFolders folders;
    add_problems(
        file, checks::check_file(file.document.text(), file.document.path(), {}, nullptr, folders),
        Severity::Error, Severity::Warning, out);
}

bool is_fixable(std::string_view check) {
    const lint::Check* found = lint::find_check(check);
    return found && found->fix;
}

std::optional<std::string> lint_fixed(const std::string& path, const std::string& text,
                                      std::string_view only) {
    if (text.size() > kMaxLinted) return std::nullopt;
    lint::LintOptions options;
    options.fix = true;
    if (!only.empty())
        for (const lint::Check* check : lint::all_checks())
            options.checks[std::string(check->name)] = check->name == only;
    auto fixed = lint::lint(text, path, options).fixed_text;
    return fixed && *fixed != text ? std::move(fixed) : std::nullopt;
}

}  // namespace bunraku::lsp
