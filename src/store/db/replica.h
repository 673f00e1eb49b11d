// Whether a standby is near enough to the database to be asked in its place.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>

#include "core/sys/executor.h"
#include "store/db/database.h"

namespace bunraku::store {

/// Counts in the database, and looks how far the count has come in the standby: what was committed
/// before a beat that is there is there too. Only this process's own clock is asked, so clocks that
/// differ do no harm, and a standby that has lost its primary counts as far behind.
class ReplicaWatch {
public:
    ReplicaWatch(std::string primary, std::string replica, std::int64_t most_lag_ms,
                 sys::Runtime& runtime)
        : primary_(std::move(primary)),
          replica_(std::move(replica)),
          most_lag_ms_(most_lag_ms),
          runtime_(runtime) {}

    /// One beat and one look; by one thread, about once a second.
    Result<void> look();
    /// After look() has failed: true unless it failed the last time too.
    bool newly_silent() { return !silent_.exchange(true); }

    /// For any thread: whether it is worth asking.
    bool usable() const;
    /// Whether what has this beat is near enough. Several standbys may be behind one URL: each
    /// connection is asked for its own.
    bool near(std::int64_t beat) const;
    /// Milliseconds that its content may be old; -1: unknown.
    std::int64_t age_ms() const;
    const std::string& url() const { return replica_; }

private:
    Result<std::int64_t> beat();
    Result<std::int64_t> seen();

    struct Heartbeat {
        std::int64_t number, at;
    };
    std::string primary_, replica_;
    std::int64_t most_lag_ms_;
    sys::Runtime& runtime_;
    std::unique_ptr<Database> there_, here_;
    mutable std::mutex mutex_;
    std::deque<Heartbeat> beats_;  ///< of this process: not yet seen, or not too old
    std::atomic<std::int64_t> fresh_at_{-1};
    std::atomic<bool> silent_{false};
};

}  // namespace bunraku::store
