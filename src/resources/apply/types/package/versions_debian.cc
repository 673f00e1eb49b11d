// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "core/base/assert.h"
#include "core/base/number.h"
#include "resources/apply/types/package/versions.h"

namespace bunraku::apply {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }

// Returns the rank of a character. A tilde sorts before everything, even the end; letters sort
// before other characters.
int order(std::string_view s, std::size_t i) {
    if (i >= s.size() || digit(s[i])) return 0;
    if (s[i] == '~') return -1;
    auto c = static_cast<unsigned char>(s[i]);
    return std::isalpha(c) ? c : c + 256;
}

int compare_part(std::string_view a, std::string_view b) {
    std::size_t i = 0, j = 0;
    while (i < a.size() || j < b.size()) {
        while ((i < a.size() && !digit(a[i])) || (j < b.size() && !digit(b[j]))) {
            int x = order(a, i), y = order(b, j);
            if (x != y) return x - y;
            if (i < a.size()) ++i;
            if (j < b.size()) ++j;
        }
        while (i < a.size() && a[i] == '0') ++i;
        while (j < b.size() && b[j] == '0') ++j;
        int first = 0;
        while (i < a.size() && digit(a[i]) && j < b.size() && digit(b[j])) {
            if (first == 0) first = a[i] - b[j];
            ++i;
            ++j;
        }
        if (i < a.size() && digit(a[i])) return 1;
        if (j < b.size() && digit(b[j])) return -1;
        if (first != 0) return first;
    }
    return 0;
}

bool allowed(std::string_view s, std::string_view more) {
    return std::all_of(s.begin(), s.end(), [&](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) ||
               more.find(c) != std::string_view::npos;
    });
}

}  // namespace

std::optional<DebianVersion> DebianVersion::parse(std::string_view text) {
    DebianVersion v;
    if (std::size_t colon = text.find(':'); colon != std::string_view::npos) {
        std::string_view epoch = text.substr(0, colon);
        const auto number = base::parse_integer<std::uint32_t>(epoch);
        if (!number) return std::nullopt;
        v.epoch = *number;
        text.remove_prefix(colon + 1);
    }
    std::size_t dash = text.rfind('-');
    if (dash != std::string_view::npos) {
        v.revision = text.substr(dash + 1);
        text = text.substr(0, dash);
    }
    v.upstream = text;
    if (text.empty() || !allowed(text, ".+~-") || !allowed(v.revision, ".+~")) return std::nullopt;
    return v;
}

int DebianVersion::compare(const DebianVersion& o) const {
    if (epoch != o.epoch) return epoch < o.epoch ? -1 : 1;
    BUNRAKU_ASSERT(!upstream.empty() && !o.upstream.empty());
    if (int c = compare_part(upstream, o.upstream)) return c;
    return compare_part(revision, o.revision);
}

}  // namespace bunraku::apply
