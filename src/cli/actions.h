// What commands with actions ("parser validate FILE...") share; inside this folder only.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

namespace bunraku::cli {

/// The action in front, which may be missing; what follows goes to `rest`.
inline std::string take_action(const std::vector<std::string>& positional,
                               std::vector<std::string>& rest) {
    if (positional.empty()) return {};
    rest.assign(positional.begin() + 1, positional.end());
    return positional.front();
}

inline std::string read_stdin() {
    std::string text;
    char buffer[65536];
    for (std::size_t n = 0; (n = std::fread(buffer, 1, sizeof buffer, stdin)) > 0;)
        text.append(buffer, n);
    return text;
}

}  // namespace bunraku::cli
