// SPDX-License-Identifier: Apache-2.0
// Parts of variable names, which include the indexes after them (internal to this folder).
#pragma once

#include <string>
#include <string_view>

namespace bunraku::lint {

/// Returns the name without everything from the first "[" on, if the name ends with "]".
inline std::string_view without_index(std::string_view name) {
    const std::size_t open = name.find('[');
    if (open == std::string_view::npos || !name.ends_with(']') || name.size() < open + 3)
        return name;
    return name.substr(0, open);
}

/// Returns the name without its indexes, each up to the first "]" after it.
inline std::string without_indexes(std::string_view name) {
    std::string out;
    while (true) {
        const std::size_t open = name.find('[');
        const std::size_t close = open == std::string_view::npos ? open : name.find(']', open + 2);
        if (close == std::string_view::npos) return out.append(name);
        out += name.substr(0, open);
        name.remove_prefix(close + 1);
    }
}

}  // namespace bunraku::lint
