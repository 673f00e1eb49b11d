// SPDX-License-Identifier: Apache-2.0
// Small text functions: the case of ASCII letters, trimming, lines, words, splitting.
#pragma once

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/text_view.h"

namespace bunraku::base {

/// Handles ASCII only, whatever the locale is. Other bytes stay unchanged.
constexpr char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; }
constexpr char upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 32) : c; }
inline void make_lower(std::string& text) {
    for (char& c : text) c = lower(c);
}
inline std::string lower(std::string_view text) {
    std::string out(text);
    make_lower(out);
    return out;
}
inline std::string upper(std::string_view text) {
    std::string out(text);
    for (char& c : out) c = upper(c);
    return out;
}
/// Turns "file" into "File". Only the first letter changes.
inline std::string capitalized(std::string_view text) {
    std::string out(text);
    if (!out.empty()) out[0] = upper(out[0]);
    return out;
}
/// Turns "foo::bar" into "Foo::Bar". Only the first letter of each segment changes.
inline std::string capitalized_segments(std::string_view name) {
    std::string out(name);
    bool start = true;
    for (char& c : out) {
        if (start) c = upper(c);
        start = c == ':';
    }
    return out;
}
constexpr bool same_ignoring_case(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    for (std::size_t i = 0; i < a.size(); ++i)
        if (lower(a[i]) != lower(b[i])) return false;
    return true;
}

/// The characters that isspace() accepts in the C locale.
inline constexpr std::string_view kBlanks = " \t\n\v\f\r";

/// Returns a view of `text` without `blanks` at both ends.
inline std::string_view trim(TextView text BUNRAKU_LIFETIMEBOUND,
                             std::string_view blanks = kBlanks) {
    const std::size_t begin = text.find_first_not_of(blanks);
    if (begin == std::string_view::npos) return {};
    return text.substr(begin, text.find_last_not_of(blanks) - begin + 1);
}

/// Returns views of the parts between `by`, including empty parts.
inline std::vector<std::string_view> split(TextView text BUNRAKU_LIFETIMEBOUND, char by) {
    std::vector<std::string_view> out;
    while (true) {
        const std::size_t end = text.find(by);
        out.push_back(text.substr(0, end));
        if (end == std::string_view::npos) return out;
        text.remove_prefix(end + 1);
    }
}

/// Returns views of the non-empty parts of `line` between `blanks`, in order.
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

/// Returns copies that outlive the text.
inline std::vector<std::string> texts(const std::vector<std::string_view>& views) {
    return {views.begin(), views.end()};
}

/// Returns views of the lines of `text`, without their ends. A final line break does not add an
/// empty line.
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
