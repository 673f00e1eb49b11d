// SPDX-License-Identifier: Apache-2.0
// What the writers of this process have removed from the store, so that the others drop only these
// ids from their caches.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <vector>

namespace bunraku::store {

/// The ids of removed content, sorted.
struct RemovedContent {
    std::vector<std::int64_t> resources, facts, packages;
};

/// The most recent removals, by generation of the store's content. May be used by several threads.
class Removals {
public:
    /// Adds a committed removal.
    void add(std::int64_t generation, RemovedContent removed);
    /// Returns everything that was removed after generation `since`, up to and including `until`.
    /// Returns nullopt if another process has removed something, or if it is too long ago.
    std::optional<RemovedContent> between(std::int64_t since, std::int64_t until) const;

private:
    struct Entry {
        std::int64_t generation = 0;
        RemovedContent removed;
    };
    mutable std::mutex mutex_;
    std::deque<Entry> entries_;  ///< in the order in which they were added
};

}  // namespace bunraku::store
