// SPDX-License-Identifier: Apache-2.0
// A sort that tolerates comparisons that contradict each other.
#pragma once

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "core/base/assert.h"

namespace bunraku::base {

/// Sorts `items` with a stable merge sort. `after(a, b)` returns whether `a` belongs after `b`, or
/// nullopt to stop; then merge_sort returns false and `items` is unspecified. Unlike std::sort, it
/// stays within the items if the results contradict each other, as those of a user's block may.
template <class T, class After>
bool merge_sort(std::vector<T>& items, After&& after) {
    std::vector<T> to(items);
    for (std::size_t width = 1; width < items.size(); width *= 2) {
        for (std::size_t i = 0; i < items.size(); i += 2 * width) {
            std::size_t a = i, b = std::min(i + width, items.size()), k = i;
            const std::size_t mid = b, end = std::min(i + 2 * width, items.size());
            while (a < mid && b < end) {
                const std::optional<bool> later = after(items[a], items[b]);
                if (!later) return false;
                to[k++] = *later ? items[b++] : items[a++];
            }
            while (a < mid) to[k++] = items[a++];
            while (b < end) to[k++] = items[b++];
            BUNRAKU_ASSERT(a == mid && b == end && k == end);
        }
        std::swap(items, to);
    }
    return true;
}

}  // namespace bunraku::base
