// What a mistyped command or option was probably meant to be.
#pragma once

#include <fmt/format.h>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/similar.h"

namespace bunraku::cli {

/// "Did you mean NAME?" as a line of its own, with what one types before it; nothing where no name
/// is near.
inline std::string did_you_mean(std::string_view wanted, const std::vector<std::string>& names,
                                std::string_view prefix = {}) {
    auto near = base::similar_names(wanted, names);
    for (auto& name : near) name.insert(0, prefix);
    return near.empty() ? std::string()
                        : fmt::format("Did you mean {}?\n", fmt::join(near, " or "));
}

}  // namespace bunraku::cli
