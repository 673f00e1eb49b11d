// SPDX-License-Identifier: Apache-2.0
// Ruby's Pathname#+ and Pathname.glob, which hiera.yaml uses for its files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bunraku::environment {
class Environment;
}

namespace bunraku::hiera {

/// Joins `base` and `more`. An absolute `more` replaces `base`. "." and leading ".." of `more` are
/// resolved.
std::string join_path(std::string_view base, std::string_view more);

/// Returns the same paths as Dir.glob for `*`, `?`, `[a-z]`, `{a,b}` and `**/`. The paths are
/// sorted within each folder, and a hidden file needs a leading dot in the pattern. All reads are
/// recorded. The search ends after 100,000 entries.
std::vector<std::string> glob_paths(const environment::Environment& environment,
                                    const std::string& pattern);

}  // namespace bunraku::hiera
