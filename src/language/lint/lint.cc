// SPDX-License-Identifier: Apache-2.0
// Runs the checks: tokenise, run every check on the unchanged tokens, apply control comments, then
// fix the problems in the order of the checks.
#include "language/lint/lint.h"

#include <algorithm>
#include <utility>

#include "core/base/text.h"
#include "core/codec/json_cursor.h"
#include "language/lint/check.h"
#include "language/lint/control_comments.h"
#include "language/lint/lexer.h"
#include "language/lint/yaml_facts.h"

namespace bunraku::lint {

namespace {

constexpr std::string_view kSyntaxCheck = "syntax";

bool is_yaml(std::string_view path) {
    const std::string name = base::lower(path);
    return name.ends_with(".yaml") || name.ends_with(".yml");
}

/// Reports whether a file is a policy package of SELinux, which has the same extension.
bool is_selinux_package(std::string_view text) { return text.starts_with("\x8f\xff\x7c\xf9"); }

LintResult syntax_error(int line, int column, std::string_view reason) {
    LintResult result;
    result.problems.push_back(
        {.check = kSyntaxCheck,
         .severity = Severity::Error,
         .message = reason.empty() ? "Syntax error" : "Syntax error (" + std::string(reason) + ")",
         .line = line,
         .column = column,
         .reason = {}});
    return result;
}

/// Returns the first line that is not valid UTF-8, which Puppet refuses; 0 if there is none.
int invalid_line(std::string_view text) {
    if (codec::check_utf8(text).empty()) return 0;
    int line = 1;
    for (const std::string_view each : base::split(text, '\n')) {
        if (!codec::check_utf8(each).empty()) break;
        ++line;
    }
    return line;
}

struct CheckRun {
    const Check* check;
    std::vector<Finding> findings;
};

std::vector<CheckRun> run_checks(const Manifest& manifest, const LintOptions& options) {
    std::vector<CheckRun> runs;
    for (const Check* check : all_checks()) {
        if (!check->run || !options.enabled(*check)) continue;
        Report report(*check, options);
        check->run(manifest, report);
        if (!report.findings().empty()) runs.push_back({check, std::move(report.findings())});
    }
    return runs;
}

void ignore_problem(Problem& problem, const ControlComments& comments) {
    if (problem.check == kSyntaxCheck) return;
    const std::string* reason = comments.reason(problem.check, problem.line);
    if (!reason) return;
    problem.severity = Severity::Ignored;
    problem.reason = *reason;
}

void fix_problems(std::vector<CheckRun>& runs, TokenStream& stream) {
    for (CheckRun& run : runs) {
        if (!run.check->fix) continue;
        for (Finding& finding : run.findings) {
            Problem& problem = finding.problem;
            if (problem.severity == Severity::Ignored || problem.check == kSyntaxCheck) continue;
            if (run.check->fix(stream, finding)) problem.severity = Severity::Fixed;
        }
    }
}

LintResult lint_yaml(std::string_view text, std::string_view path, const LintOptions& options) {
    LintResult result;
    const Check* check = find_check(kYamlCheck);
    if (check && options.enabled(*check)) result.problems = find_legacy_facts(text, path);
    return result;
}

}  // namespace

std::string_view severity_name(Severity severity) {
    switch (severity) {
        case Severity::Warning: return "warning";
        case Severity::Error: return "error";
        case Severity::Fixed: return "fixed";
        case Severity::Ignored: return "ignored";
    }
    return {};
}

bool LintOptions::enabled(const Check& check) const {
    const auto chosen = checks.find(check.name);
    if (chosen != checks.end()) return chosen->second;
    return check.enabled && (plugins || check.group != CheckGroup::Plugin) &&
           (compiler || check.group != CheckGroup::Compiler);
}

Finding& Report::add(Severity severity, Token* token, std::string message) {
    findings_.push_back({.problem = {.check = check_.name,
                                     .severity = severity,
                                     .message = std::move(message),
                                     .line = token->line,
                                     .column = token->column,
                                     .fixable = check_.fix != nullptr,
                                     .reason = {}},
                         .token = token,
                         .name = {}});
    return findings_.back();
}

Finding& Report::warning_at(int line, int column, std::string message) {
    Token place;
    place.line = line;
    place.column = column;
    Finding& finding = add(Severity::Warning, &place, std::move(message));
    finding.token = nullptr;
    return finding;
}

void apply_control_comments(std::string_view text, std::vector<Problem>& problems) {
    TokenStream stream;
    if (problems.empty() || tokenise(text, stream)) return;
    const ControlComments comments(stream);
    for (Problem& problem : problems) ignore_problem(problem, comments);
}

LintResult lint(std::string_view text, std::string_view path, const LintOptions& options) {
    if (text.empty() || is_selinux_package(text)) return {};
    if (is_yaml(path)) return lint_yaml(text, path, options);

    if (const int line = invalid_line(text); line > 0)
        return syntax_error(line, 1, "invalid byte sequence in UTF-8");
    TokenStream stream;
    if (const auto error = tokenise(text, stream))
        return syntax_error(error->line, error->column, error->reason);
    const ControlComments comments(stream);
    const Manifest manifest(stream, text, path);
    std::vector<CheckRun> runs = run_checks(manifest, options);
    if (const Token* place = manifest.syntax_error())
        return syntax_error(place->line, place->column, {});
    for (CheckRun& run : runs)
        for (Finding& finding : run.findings) ignore_problem(finding.problem, comments);
    if (options.fix) fix_problems(runs, stream);

    LintResult result;
    bool valid = true;
    for (CheckRun& run : runs) {
        for (Finding& finding : run.findings) {
            valid = valid && finding.problem.check != kSyntaxCheck;
            result.problems.push_back(std::move(finding.problem));
        }
    }
    if (options.fix && valid) result.fixed_text = stream.text();
    result.warnings = comments.warnings();
    return result;
}

}  // namespace bunraku::lint
