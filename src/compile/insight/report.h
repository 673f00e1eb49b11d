// What an impact is told as: text for people, JSON, Markdown for a merge request, SARIF for code
// scanning.
#pragma once

#include <optional>
#include <string>

#include "compile/insight/impact.h"

namespace bunraku::insight {

struct TextOptions {
    bool color = false;
    bool whole = false;            ///< everything, and not about a screen of it
    std::size_t lines = 40;        ///< what a screen has
    std::optional<int> exit_code;  ///< what the command exits with, shown in the summary
};
std::string impact_text(const Impact& impact, const TextOptions& options);
/// One object: from, to, summary, nodes, groups, notes, compiled (docs/impact.md).
std::string impact_json(const Impact& impact);
/// A comment, short enough for GitHub and GitLab.
std::string impact_markdown(const Impact& impact);
/// SARIF 2.1.0: what fails or was found wrong as errors, all else as notes.
std::string impact_sarif(const Impact& impact, std::string_view version);

/// "3 of 120 nodes change, 1 fails".
std::string impact_headline(const Impact& impact);

}  // namespace bunraku::insight
