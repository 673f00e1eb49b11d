// SPDX-License-Identifier: Apache-2.0
#include "core/base/similar.h"

#include <algorithm>
#include <utility>

#include "core/base/assert.h"
#include "core/base/text.h"

namespace bunraku::base {

namespace {

constexpr std::size_t kLongest = 200;  // longer names are not compared

}  // namespace

std::size_t edit_distance(std::string_view a, std::string_view b, std::size_t limit) {
    if (a.size() > b.size()) std::swap(a, b);
    if (b.size() - a.size() > limit || b.size() > kLongest) return limit + 1;
    // Three rows of the table are needed, because a swap refers to the row before the last.
    std::vector<std::size_t> before(a.size() + 1), last(a.size() + 1), now(a.size() + 1);
    BUNRAKU_ASSERT(a.size() <= b.size());
    for (std::size_t i = 0; i <= a.size(); ++i) last[i] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
        now[0] = j;
        std::size_t least = j;
        for (std::size_t i = 1; i <= a.size(); ++i) {
            const std::size_t change = a[i - 1] == b[j - 1] ? 0 : 1;
            now[i] = std::min({last[i] + 1, now[i - 1] + 1, last[i - 1] + change});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[i] = std::min(now[i], before[i - 2] + 1);
            least = std::min(least, now[i]);
        }
        if (least > limit) return limit + 1;
        std::swap(before, last);
        std::swap(last, now);
    }
    return std::min(last[a.size()], limit + 1);
}

std::vector<std::string> similar_names(std::string_view wanted,
                                       const std::vector<std::string>& names, std::size_t most) {
    // A third of the letters may differ, but at most three.
    const std::size_t limit = std::min<std::size_t>(3, std::max<std::size_t>(1, wanted.size() / 3));
    std::string low(wanted);
    make_lower(low);
    std::vector<std::pair<std::size_t, const std::string*>> near;
    std::string other;
    for (const auto& name : names) {
        if (name == wanted) continue;
        other = name;
        make_lower(other);
        const auto distance = edit_distance(low, other, limit);
        // For names of one or two letters, every other name would be near.
        if (distance <= limit && distance < std::max<std::size_t>(other.size(), 2))
            near.emplace_back(distance, &name);
    }
    std::stable_sort(near.begin(), near.end(), [](const auto& a, const auto& b) {
        return std::pair(a.first, std::string_view(*a.second)) <
               std::pair(b.first, std::string_view(*b.second));
    });
    std::vector<std::string> out;
    for (const auto& [distance, name] : near) {
        BUNRAKU_ASSERT(distance >= near.front().first && distance <= limit);
        // Names much farther away than the nearest are not useful suggestions.
        if (out.size() >= most || distance > near.front().first + 1) break;
        if (out.empty() || out.back() != *name) out.push_back(*name);
    }
    BUNRAKU_ASSERT(out.size() <= most);
    return out;
}

}  // namespace bunraku::base
