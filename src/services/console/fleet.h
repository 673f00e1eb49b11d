// SPDX-License-Identifier: Apache-2.0
// The latest run of each node, in memory. Pages that show the whole fleet read it, so that their
// cost does not depend on the size of the store.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "core/base/result.h"
#include "core/sys/executor.h"
#include "services/console/state.h"
#include "services/console/viewer.h"
#include "store/engine/runs.h"
#include "store/engine/service.h"

namespace bunraku::console {

/// The number of nodes in each state.
struct StateCounts {
    std::array<std::int64_t, kStates> of{};
    std::int64_t total = 0;
    void add(State state) {
        ++of[static_cast<std::size_t>(state)];
        ++total;
    }
    std::int64_t operator[](State state) const { return of[static_cast<std::size_t>(state)]; }
};

/// The fleet at one time. Immutable.
struct Fleet {
    std::vector<store::NodeRow> nodes;                 ///< active nodes, sorted by name
    std::map<std::int64_t, std::string> environments;  ///< names by id
    std::vector<store::RunCounts> slots;  ///< the last 24 hours, oldest first; see `counted`
    bool counted = false;                 ///< false while the runs of 24 hours are being counted
    std::int64_t last_report = 0;

    /// Returns an empty text if the environment is not known.
    std::string_view environment(const store::RunRow& run) const;
    /// Returns null if no active node has that name.
    const store::NodeRow* find(std::string_view certname) const;
    /// Counts the nodes that the viewer may see.
    StateCounts count(const Viewer& viewer, std::int64_t now_ms) const;
};

/// A run that arrived while the fleet was observed.
struct RunNews {
    std::uint64_t number = 0;                ///< 1 for the first run that this process noticed
    std::string certname, environment, run;  ///< `run` is the hash of the report, hexadecimal
    State state = State::Unchanged;
    std::int64_t end = 0;
};

/// The value of a fact, or the environment, of each node.
struct Grouping {
    std::map<std::int64_t, std::string> values;  ///< by certnames.id
    std::string_view of(const store::NodeRow& node) const;
};

/// Keeps the fleet up to date while pages request it. Thread-safe.
class FleetWatch {
public:
    FleetWatch(std::shared_ptr<store::Service> store, sys::Executor& aside, sys::Runtime& runtime)
        : store_(std::move(store)), aside_(aside), runtime_(runtime) {}

    /// Returns the fleet as it was at most `kFresh` ago. If the store does not answer, returns the
    /// last known state and sets `stale`. Fails only if nothing is known yet.
    base::Result<std::shared_ptr<const Fleet>> current(bool* stale = nullptr);
    /// Groups nodes by a fact, such as "role", or by "environment" if `fact` is that word.
    /// "class:role" groups them by their classes below that name, such as Role::Web.
    base::Result<std::shared_ptr<const Grouping>> grouping(std::string_view fact);

    /// Returns the number of the newest run that current() noticed, or 0.
    std::uint64_t newest_news() const;
    /// Returns the runs after a number, oldest first, or nullopt if some of them are forgotten.
    std::optional<std::vector<RunNews>> news_after(std::uint64_t number) const;

    static constexpr std::string_view kClassGrouping = "class:";
    static constexpr std::size_t kMostNews = 2000;
    static constexpr std::int64_t kFreshMs = 1000;
    /// After this time all nodes are read again, because some may have been deactivated.
    static constexpr std::int64_t kReloadMs = 60'000;
    static constexpr std::int64_t kDayMs = 24LL * 3600 * 1000;

private:
    base::Result<std::shared_ptr<const Fleet>> load(const Fleet* before);
    base::Result<std::shared_ptr<const Fleet>> advance(std::shared_ptr<const Fleet> from,
                                                       std::vector<store::RunRow>& news);
    void add_news(const Fleet& fleet, const std::vector<store::RunRow>& runs);
    base::Result<void> count_day();
    void reload_later();
    void put(std::shared_ptr<const Fleet> fleet);

    std::shared_ptr<store::Service> store_;
    sys::Executor& aside_;
    sys::Runtime& runtime_;
    std::mutex refresh_;        ///< held while the fleet is read
    mutable std::mutex mutex_;  ///< protects the members below
    std::shared_ptr<const Fleet> fleet_;
    std::int64_t advanced_ms_ = 0, loaded_ms_ = 0;
    std::atomic<bool> reloading_{false};
    std::deque<RunNews> news_;
    std::uint64_t newest_news_ = 0;
    struct CachedGrouping {
        std::shared_ptr<const Grouping> grouping;
        std::int64_t made_ms = 0;
    };
    std::map<std::string, CachedGrouping, std::less<>> groupings_;
    /// Ids of recent reports that are part of `fleet_`. With PostgreSQL, a report may become
    /// visible after one with a greater id.
    std::unordered_set<std::int64_t> recent_;
};

}  // namespace bunraku::console
