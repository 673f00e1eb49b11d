// SPDX-License-Identifier: Apache-2.0
// Explanations of the error codes ("issue_code" in JSON, such as "SYNTAX_ERROR").
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace bunraku::diagnostics {

struct IssueEntry {
    std::string_view code;
    std::string_view meaning;  ///< what is wrong, and why
    std::string_view remedy;   ///< how to fix it
    /// Example in Puppet code; empty if it would not help.
    std::string_view wrong = {}, right = {};
};

/// Returns all entries, sorted by code.
std::span<const IssueEntry> issue_entries();

/// Returns the meaning, remedy and example of a code as text for a terminal. Ignores the case of
/// `code`. Returns nullopt for an unknown code.
std::optional<std::string> explained_issue(std::string_view code);
/// Returns all codes, one per line, with the start of their meaning.
std::string issue_list();
/// Returns the codes most similar to a misspelt code.
std::string issue_suggestion(std::string_view code);
/// Returns the text of docs/errors.md.
std::string issue_page();

}  // namespace bunraku::diagnostics
