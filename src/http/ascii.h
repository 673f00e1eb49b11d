// Names of HTTP are compared without regard to the case of ASCII letters; inside this folder only.
#pragma once

#include <cstddef>
#include <string_view>

namespace bunraku::http {

constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }

constexpr bool same_ignoring_case(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); i++)
        if (lower(a[i]) != lower(b[i])) return false;
    return true;
}

}  // namespace bunraku::http
