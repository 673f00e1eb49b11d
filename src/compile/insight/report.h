// SPDX-License-Identifier: Apache-2.0
// Formats of an impact: text for terminals, JSON, Markdown for merge requests, SARIF for code
// scanning.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "compile/insight/impact.h"

namespace bunraku::insight {

struct TextOptions {
    bool color = false;
    bool whole = false;            ///< True to print everything instead of about one screen.
    std::size_t lines = 40;        ///< lines of one screen
    std::optional<int> exit_code;  ///< exit code of the command, for the summary
};
std::string impact_text(const Impact& impact, const TextOptions& options);
/// Returns a JSON object: from, to, summary, nodes, groups, notes, compiled (docs/impact.md).
std::string impact_json(const Impact& impact);
/// Returns a Markdown comment that fits the size limits of GitHub and GitLab.
std::string impact_markdown(const Impact& impact);
/// Returns SARIF 2.1.0. Failures and findings are errors; all other changes are notes.
std::string impact_sarif(const Impact& impact, std::string_view version);

/// Returns the first line of a group: the resource and parameter, or the error. Paths below `root`
/// are relative.
std::string group_title(const Group& group, const std::string& root);
/// Returns the old and new values of a group as lines that begin with '-', '+' or ' '. The last one
/// says how many are left out if there are more than `most_lines`. Cuts texts after `most_text`
/// bytes.
std::vector<std::string> group_lines(const Group& group, std::size_t most_lines,
                                     std::size_t most_text);

/// Returns a summary such as "3 of 120 nodes change, 1 fails".
std::string impact_headline(const Impact& impact);

}  // namespace bunraku::insight
