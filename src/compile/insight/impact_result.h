// SPDX-License-Identifier: Apache-2.0
// What the commands `impact` and `whatif` derive from an impact: the exit code, notes about nodes
// that could not be examined, and the format of a file.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "compile/insight/impact.h"

namespace bunraku::insight {

/// Returns the impact in the format that the extension of `path` names: .md, .sarif, .txt or JSON.
std::string impact_for_file(const std::string& path, const Impact& impact, int exit_code,
                            std::string_view version);
/// Adds the nodes that could not be examined. Each reason is reported once.
void add_unjudged(Impact& impact, const std::vector<std::pair<std::string, std::string>>& unjudged);
/// Returns 2 if a group matches one of the conditions (errors, changes, or a pattern for
/// Type[title] or Type[title]::parameter), 3 if nodes could not be examined, and otherwise 0.
int impact_exit_code(const Impact& impact, const std::vector<std::string>& fail_on);

}  // namespace bunraku::insight
