// SPDX-License-Identifier: Apache-2.0
#include "language/types/time_zone.h"

#include <algorithm>
#include <string>
#include <time.h>

#include "core/base/text.h"

namespace bunraku::types {

namespace {

struct Zone {
    std::string_view name;
    int offset;  ///< seconds
};

constexpr int kH = 3600;

/// The commonly used zones of Ruby's Date.
constexpr Zone kZones[] = {
    {"utc", 0},
    {"gmt", 0},
    {"ut", 0},
    {"z", 0},
    {"est", -5 * kH},
    {"edt", -4 * kH},
    {"cst", -6 * kH},
    {"cdt", -5 * kH},
    {"mst", -7 * kH},
    {"mdt", -6 * kH},
    {"pst", -8 * kH},
    {"pdt", -7 * kH},
    {"a", 1 * kH},
    {"b", 2 * kH},
    {"c", 3 * kH},
    {"d", 4 * kH},
    {"e", 5 * kH},
    {"f", 6 * kH},
    {"g", 7 * kH},
    {"h", 8 * kH},
    {"i", 9 * kH},
    {"k", 10 * kH},
    {"l", 11 * kH},
    {"m", 12 * kH},
    {"n", -1 * kH},
    {"o", -2 * kH},
    {"p", -3 * kH},
    {"q", -4 * kH},
    {"r", -5 * kH},
    {"s", -6 * kH},
    {"t", -7 * kH},
    {"u", -8 * kH},
    {"v", -9 * kH},
    {"w", -10 * kH},
    {"x", -11 * kH},
    {"y", -12 * kH},
    {"wet", 0},
    {"at", -2 * kH},
    {"brst", -2 * kH},
    {"ndt", -9000},
    {"art", -3 * kH},
    {"adt", -3 * kH},
    {"brt", -3 * kH},
    {"clst", -3 * kH},
    {"nst", -12600},
    {"ast", -4 * kH},
    {"clt", -4 * kH},
    {"akdt", -8 * kH},
    {"ydt", -8 * kH},
    {"akst", -9 * kH},
    {"hadt", -9 * kH},
    {"hdt", -9 * kH},
    {"yst", -9 * kH},
    {"ahst", -10 * kH},
    {"cat", 2 * kH},
    {"hast", -10 * kH},
    {"hst", -10 * kH},
    {"nt", -11 * kH},
    {"idlw", -12 * kH},
    {"bst", 1 * kH},
    {"cet", 1 * kH},
    {"fwt", 1 * kH},
    {"met", 1 * kH},
    {"mewt", 1 * kH},
    {"mez", 1 * kH},
    {"swt", 1 * kH},
    {"wat", 1 * kH},
    {"west", 1 * kH},
    {"cest", 2 * kH},
    {"eet", 2 * kH},
    {"fst", 2 * kH},
    {"mest", 2 * kH},
    {"mesz", 2 * kH},
    {"sast", 2 * kH},
    {"sst", 2 * kH},
    {"bt", 3 * kH},
    {"eat", 3 * kH},
    {"eest", 3 * kH},
    {"msk", 3 * kH},
    {"msd", 4 * kH},
    {"zp4", 4 * kH},
    {"zp5", 5 * kH},
    {"ist", 19800},
    {"zp6", 6 * kH},
    {"wast", 2 * kH},
    {"cct", 23400},
    {"sgt", 8 * kH},
    {"wadt", 8 * kH},
    {"jst", 9 * kH},
    {"kst", 9 * kH},
    {"east", -6 * kH},
    {"gst", 10 * kH},
    {"eadt", 11 * kH},
    {"idle", 12 * kH},
    {"nzst", 12 * kH},
    {"nzt", 12 * kH},
    {"nzdt", 13 * kH},
    {"aest", 10 * kH},
    {"aedt", 11 * kH},
    {"acst", 34200},
    {"acdt", 37800},
    {"awst", 8 * kH},
    {"hkt", 8 * kH},
    {"pht", 8 * kH},
    {"eastern", -5 * kH},
    {"central", -6 * kH},
    {"pacific", -8 * kH},
    {"mountain", -7 * kH},
};

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_alpha(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

bool cut_end(std::string& text, std::string_view end) {
    if (!text.ends_with(end)) return false;
    text.resize(text.size() - end.size());
    while (text.ends_with(' ')) text.pop_back();
    return true;
}

}  // namespace

std::optional<int> zone_offset(std::string_view zone) {
    std::string text = base::lower(zone);
    int extra = 0;
    if (cut_end(text, " standard time")) {
    } else if (cut_end(text, " daylight time") || cut_end(text, " dst")) {
        extra = kH;
    }
    for (const Zone& z : kZones) {
        if (z.name == text) return z.offset + extra;
    }
    std::string_view rest = text;
    if (rest.starts_with("gmt") || rest.starts_with("utc")) rest.remove_prefix(3);
    if (rest.size() < 2 || (rest[0] != '+' && rest[0] != '-')) return std::nullopt;
    const int sign = rest[0] == '-' ? -1 : 1;
    rest.remove_prefix(1);
    const auto number = [&rest](std::size_t limit) {
        int n = 0;
        std::size_t i = 0;
        for (; i < rest.size() && i < limit && is_digit(rest[i]); ++i) n = n * 10 + (rest[i] - '0');
        rest.remove_prefix(i);
        return n;
    };
    if (!is_digit(rest[0])) return std::nullopt;
    std::size_t digits = 0;
    while (digits < rest.size() && is_digit(rest[digits])) ++digits;
    int hours = 0, minutes = 0, seconds = 0;
    if (digits < rest.size() && rest[digits] == ':') {
        hours = number(9);
        rest.remove_prefix(1);
        minutes = number(2);
        if (rest.starts_with(':')) {
            rest.remove_prefix(1);
            seconds = number(2);
        }
    } else if (digits < rest.size() && (rest[digits] == '.' || rest[digits] == ',')) {
        // The number has a fraction of an hour.
        hours = number(9);
        rest.remove_prefix(1);
        double part = 0, scale = 1;
        while (!rest.empty() && is_digit(rest[0]) && scale < 1e7) {
            part = part * 10 + (rest[0] - '0');
            scale *= 10;
            rest.remove_prefix(1);
        }
        seconds = static_cast<int>(part / scale * kH + 0.5);
    } else {
        // h, hh, hmm, hhmm, hmmss, hhmmss
        hours = number(2 - digits % 2);
        minutes = number(2);
        seconds = number(2);
    }
    if (hours > 99) return std::nullopt;
    return sign * (hours * kH + minutes * 60 + seconds);
}

std::size_t zone_length(std::string_view text) {
    // Digits after a sign, with or without a preceding GMT or UTC.
    std::size_t i = 0;
    const std::string start = base::lower(text.substr(0, 3));
    if (start == "gmt" || start == "utc") {
        i = 3;
    } else if (start.starts_with("ut")) {
        i = 2;
    }
    if (i < text.size() && (text[i] == '+' || text[i] == '-') && i + 1 < text.size() &&
        is_digit(text[i + 1])) {
        ++i;
        while (i < text.size() && is_digit(text[i])) ++i;
        const auto part = [&](std::string_view separators) {
            if (i + 1 < text.size() && separators.find(text[i]) != std::string_view::npos &&
                is_digit(text[i + 1])) {
                ++i;
                while (i < text.size() && is_digit(text[i])) ++i;
                return true;
            }
            return false;
        };
        if (part(",.:")) part(":");
        return i;
    }
    // "Pacific Standard Time"
    const std::string all = base::lower(text);
    for (const std::string_view kind : {"standard time", "daylight time"}) {
        const auto at = all.find(kind);
        if (at == std::string::npos || at == 0) continue;
        if (std::ranges::all_of(all.substr(0, at),
                                [](char c) { return is_alpha(c) || c == '.' || c == ' '; })) {
            return at + kind.size();
        }
    }
    std::size_t n = 0;
    while (n < text.size() && is_alpha(text[n])) ++n;
    if (n == 0 || (n < text.size() && (is_digit(text[n]) || text[n] == '_'))) return 0;
    if (base::lower(text.substr(n, 4)) == " dst" &&
        (n + 4 == text.size() || !is_alpha(text[n + 4]))) {
        n += 4;
    }
    return n;
}

}  // namespace bunraku::types
