// SPDX-License-Identifier: Apache-2.0
// Suggestions for mistyped commands and options.
#pragma once

#include <fmt/format.h>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/similar.h"

namespace bunraku::base {

/// Returns the line "Did you mean NAME?", where NAME has the given prefix. Returns an empty string
/// if no name is similar.
inline std::string did_you_mean(std::string_view wanted, const std::vector<std::string>& names,
                                std::string_view prefix = {}) {
    auto near = similar_names(wanted, names);
    for (auto& name : near) name.insert(0, prefix);
    return near.empty() ? std::string()
                        : fmt::format("Did you mean {}?\n", fmt::join(near, " or "));
}

}  // namespace bunraku::base
