// What a directory holds, as recursion and tidy walk it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "resources/apply/content_source.h"
#include "resources/apply/context.h"

namespace bunraku::apply {

/// "." and every path below, relative, folders before what they hold. nullopt: nothing there.
std::optional<std::vector<std::string>> walk_files(Context& context, sys::FileSystem& files,
                                                   const std::string& path,
                                                   const ContentSearch& walk);

/// Returns a name that only this process uses: PREFIX.bunraku-PID-TIME.
std::string temporary_name(Context& context, std::string_view prefix);
/// Removes files of such names whose process is gone, once in a run for a folder and prefix: a
/// process that is killed cannot remove its own.
void remove_leftovers(Context& context, const std::string& folder, const std::string& prefix);

/// Ruby's File.fnmatch. `dot_match`: wildcards match a leading dot too; `path_name`: they do not
/// match a slash.
bool fnmatch(std::string_view pattern, std::string_view text, bool dot_match = false,
             bool path_name = false);

}  // namespace bunraku::apply
