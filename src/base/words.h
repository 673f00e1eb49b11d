// A line in its words.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

namespace bunraku::base {

/// The parts of `line` between `blanks`, in order; views into it.
inline std::vector<std::string_view> words(std::string_view line, std::string_view blanks = " \t") {
    std::vector<std::string_view> out;
    for (std::size_t at; (at = line.find_first_not_of(blanks)) != std::string_view::npos;) {
        const std::size_t end = std::min(line.find_first_of(blanks, at), line.size());
        out.push_back(line.substr(at, end - at));
        line.remove_prefix(end);
    }
    return out;
}

}  // namespace bunraku::base
