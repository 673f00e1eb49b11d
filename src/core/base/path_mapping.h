// SPDX-License-Identifier: Apache-2.0
// Maps a folder's known path to the path under which programs find it.
#pragma once

#include <string>
#include <string_view>

namespace bunraku::base {

/// Replaces each occurrence of one path in a text with the other.
struct PathMapping {
    std::string known, place;  ///< absolute

    std::string placed(std::string_view text) const { return replaced(text, known, place); }
    std::string named(std::string_view text) const { return replaced(text, place, known); }

private:
    static bool of_name(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
               c == '_' || c == '-';
    }
    /// Replaces whole path names only: /a/b does not match in /a/bc or in /x/a/b.
    static std::string replaced(std::string_view text, const std::string& from,
                                const std::string& to) {
        std::string out;
        std::size_t begin = 0;
        for (std::size_t at = text.find(from); at != std::string_view::npos;
             at = text.find(from, at + 1)) {
            const std::size_t end = at + from.size();
            const bool starts = at == 0 || !(of_name(text[at - 1]) || text[at - 1] == '.');
            const bool ends = end == text.size() ||
                              !(of_name(text[end]) || (text[end] == '.' && end + 1 < text.size() &&
                                                       of_name(text[end + 1])));
            if (at < begin || !starts || !ends) continue;
            out.append(text.substr(begin, at - begin)).append(to);
            begin = end;
        }
        return out.append(text.substr(begin));
    }
};

}  // namespace bunraku::base
