// What a directory holds, as recursion and tidy walk it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apply/context.h"

namespace bunraku::apply {

struct Walk {
    bool recurse = true;
    std::optional<std::int64_t> limit;  ///< levels
    std::int64_t max_files = 0;         ///< 0: warn above a thousand, negative: no check
    std::vector<std::string> ignore;
    bool follow_links = false;
};

/// "." and every path below, relative, folders before what they hold. nullopt: nothing there.
std::optional<std::vector<std::string>> walk_files(Context& context, const std::string& path,
                                                   const Walk& walk);

/// Ruby's File.fnmatch. `dot_match`: wildcards match a leading dot too; `path_name`: they do not
/// match a slash.
bool fnmatch(std::string_view pattern, std::string_view text, bool dot_match = false,
             bool path_name = false);

}  // namespace bunraku::apply
