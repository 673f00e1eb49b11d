// SPDX-License-Identifier: Apache-2.0
// The interface of the checks. A check is one row in the table of checks/table.cc.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "language/lint/lint.h"
#include "language/lint/manifest.h"

namespace bunraku::lint {

/// A problem together with what its fix needs.
struct Finding {
    Problem problem;
    Token* token = nullptr;
    Token* begin = nullptr;
    Token* end = nullptr;
    const ResourceBody* resource = nullptr;
    int expected = 0, actual = 0;  ///< columns or numbers of spaces
    bool new_line = false;         ///< whether the fix starts a new line
    std::string name;              ///< name of a fact
};

/// Collects the findings of one check.
class Report {
public:
    Report(const Check& check, const LintOptions& options) : check_(check), options_(options) {}

    /// Adds a problem at `token`, which the fix may change.
    Finding& warning(Token* token, std::string message) {
        return add(Severity::Warning, token, std::move(message));
    }
    Finding& error(Token* token, std::string message) {
        return add(Severity::Error, token, std::move(message));
    }
    Finding& warning_at(int line, int column, std::string message);

    const LintOptions& options() const { return options_; }
    std::vector<Finding>& findings() { return findings_; }

private:
    Finding& add(Severity severity, Token* token, std::string message);

    const Check& check_;
    const LintOptions& options_;
    std::vector<Finding> findings_;
};

/// A check: its description for users, its code, and whether it is enabled by default.
struct Check {
    std::string_view name;
    CheckGroup group = CheckGroup::Core;
    std::string_view description;
    /// Null for the group Compiler.
    void (*run)(const Manifest& manifest, Report& report) = nullptr;
    /// Fixes a problem and returns whether it did. Null if problems cannot be fixed.
    bool (*fix)(TokenStream& stream, const Finding& finding) = nullptr;
    bool enabled = true;
};

}  // namespace bunraku::lint
