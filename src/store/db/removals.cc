// SPDX-License-Identifier: Apache-2.0
#include "store/db/removals.h"

#include <algorithm>
#include <utility>

#include "core/base/assert.h"

namespace bunraku::store {

namespace {

constexpr std::size_t kMost = 100;

void append(std::vector<std::int64_t>& to, const std::vector<std::int64_t>& from) {
    const auto middle = static_cast<std::ptrdiff_t>(to.size());
    to.insert(to.end(), from.begin(), from.end());
    std::inplace_merge(to.begin(), to.begin() + middle, to.end());
}

}  // namespace

void Removals::add(std::int64_t generation, RemovedContent removed) {
    BUNRAKU_ASSERT(std::ranges::is_sorted(removed.resources) &&
                   std::ranges::is_sorted(removed.facts) &&
                   std::ranges::is_sorted(removed.packages));
    const std::lock_guard lock(mutex_);
    entries_.push_back({generation, std::move(removed)});
    if (entries_.size() > kMost) entries_.pop_front();
}

std::optional<RemovedContent> Removals::between(std::int64_t since, std::int64_t until) const {
    RemovedContent out;
    if (since < 0 || until < since || until - since > static_cast<std::int64_t>(kMost)) {
        return std::nullopt;
    }
    const std::lock_guard lock(mutex_);
    for (std::int64_t generation = since + 1; generation <= until; ++generation) {
        const auto at = std::ranges::find(entries_, generation, &Entry::generation);
        if (at == entries_.end()) return std::nullopt;
        append(out.resources, at->removed.resources);
        append(out.facts, at->removed.facts);
        append(out.packages, at->removed.packages);
    }
    return out;
}

}  // namespace bunraku::store
