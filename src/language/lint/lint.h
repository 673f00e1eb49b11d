// SPDX-License-Identifier: Apache-2.0
// Checks the style of manifests: the checks of puppet-lint 5.1 and of the plugins that Vox Pupuli's
// modules use.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bunraku::lint {

enum class Severity : std::uint8_t { Warning, Error, Fixed, Ignored };
/// Returns puppet-lint's name: "warning", "error", "fixed" or "ignored".
std::string_view severity_name(Severity severity);

/// A part of a text and what should replace it.
struct Replacement {
    std::size_t offset = 0, size = 0;
    std::string text;
};

struct Problem {
    std::string_view check;  ///< name of the check, or "syntax"
    Severity severity = Severity::Warning;
    std::string message;
    int line = 1, column = 1;  ///< from 1; the column counts characters
    bool fixable = false;      ///< whether the check can fix problems
    std::string reason;        ///< of an ignored problem: the text of the control comment
    /// The correction of a problem of the group Compiler.
    std::optional<Replacement> correction = std::nullopt;
};

/// The origin of a check.
enum class CheckGroup : std::uint8_t {
    Core,     ///< puppet-lint itself
    Plugin,   ///< the plugins of voxpupuli-puppet-lint-plugins
    Compiler  ///< checks of compile/checks, which need the syntax tree
};

struct Check;
/// Returns all checks in the order in which their problems are reported.
std::span<const Check* const> all_checks();
/// Finds a check by name. Returns null if it does not exist.
const Check* find_check(std::string_view name);

struct LintOptions {
    bool fix = false;
    bool compiler = true;  ///< false to disable the checks of the group Compiler
    bool plugins = true;   ///< false to disable the checks of plugins
    std::map<std::string, bool, std::less<>>
        checks;             ///< checks that are switched on or off by name
    bool relative = false;  ///< true to compare paths below the root of the module only
    std::vector<std::string> top_scope_variables;  ///< additional names for top_scope_facts
    std::vector<std::string> docs_styles;  ///< permitted by parameter_documentation; all if empty
    int indent = 2;                        ///< spaces per level for strict_indent

    bool enabled(const Check& check) const;
};

struct LintResult {
    std::vector<Problem> problems;  ///< ordered by check, then by place
    /// The fixed text, if fixes were requested and the file is a manifest without syntax errors.
    std::optional<std::string> fixed_text;
    std::vector<std::string> warnings;  ///< about control comments
};

/// Checks the manifest `text`. `path` is its absolute path; the extension .yaml or .yml selects the
/// checks for YAML. An empty path disables the check of the file name.
LintResult lint(std::string_view text, std::string_view path, const LintOptions& options = {});

/// Marks the problems that the control comments in `text` disable as ignored.
void apply_control_comments(std::string_view text, std::vector<Problem>& problems);

}  // namespace bunraku::lint
