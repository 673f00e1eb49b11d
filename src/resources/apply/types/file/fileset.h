// SPDX-License-Identifier: Apache-2.0
// Walks a directory for recursion and tidy.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "resources/apply/content_source.h"
#include "resources/apply/context.h"

namespace bunraku::apply {

/// Returns "." and every relative path below, folders before their contents. Returns nullopt if
/// `path` does not exist.
std::optional<std::vector<std::string>> walk_files(Context& context, sys::FileSystem& files,
                                                   const std::string& path,
                                                   const ContentSearch& walk);

/// Returns a name that only this process uses: PREFIX.bunraku-PID-TIME.
std::string temporary_name(Context& context, std::string_view prefix);
/// Removes files with such names whose process no longer exists, because a killed process cannot
/// remove its own. Does so once per run for each folder and prefix.
void remove_leftovers(Context& context, const std::string& folder, const std::string& prefix);

/// Ruby's File.fnmatch. If `dot_match` is true, wildcards also match a leading dot. If `path_name`
/// is true, they do not match a slash.
bool fnmatch(std::string_view pattern, std::string_view text, bool dot_match = false,
             bool path_name = false);

}  // namespace bunraku::apply
