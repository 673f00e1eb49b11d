// A text in its lines, a line in its words.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "base/text_view.h"

namespace bunraku::base {

/// The parts of `line` between `blanks`, in order; views into it.
inline std::vector<std::string_view> words(TextView line BUNRAKU_LIFETIMEBOUND,
                                           std::string_view blanks = " \t") {
    std::vector<std::string_view> out;
    for (std::size_t at; (at = line.find_first_not_of(blanks)) != std::string_view::npos;) {
        const std::size_t end = std::min(line.find_first_of(blanks, at), line.size());
        out.push_back(line.substr(at, end - at));
        line.remove_prefix(end);
    }
    return out;
}

/// The lines of `text` without their ends; views into it. A text that ends in a line break has no
/// empty line behind it.
inline std::vector<std::string_view> lines(TextView text BUNRAKU_LIFETIMEBOUND) {
    std::vector<std::string_view> out;
    while (!text.empty()) {
        const std::size_t end = text.find('\n');
        out.push_back(text.substr(0, end));
        text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    }
    return out;
}

}  // namespace bunraku::base
