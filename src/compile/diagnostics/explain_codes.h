// The codes that errors carry ("issue_code" in JSON, "SYNTAX_ERROR"), explained one by one.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace bunraku::diagnostics {

struct IssueEntry {
    std::string_view code;
    std::string_view meaning;                 ///< what is wrong, and why it is
    std::string_view remedy;                  ///< what helps
    std::string_view wrong = {}, right = {};  ///< Puppet code, where that tells more
};

/// All of them, by code.
std::span<const IssueEntry> issue_entries();

/// What a code means, what helps and an example, as text for a terminal; upper or lower case will
/// do. Nullopt: there is no such code.
std::optional<std::string> explained_issue(std::string_view code);
/// All codes, one a line, with the beginning of what they mean.
std::string issue_list();
/// The codes most like this one, for whoever has misspelt it.
std::string issue_suggestion(std::string_view code);
/// docs/errors.md.
std::string issue_page();

}  // namespace bunraku::diagnostics
