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
std::optional<std::vector<std::string>> walk_files(Context& context, const std::string& path,
                                                   const ContentSearch& walk);

/// Ruby's File.fnmatch. `dot_match`: wildcards match a leading dot too; `path_name`: they do not
/// match a slash.
bool fnmatch(std::string_view pattern, std::string_view text, bool dot_match = false,
             bool path_name = false);

}  // namespace bunraku::apply
