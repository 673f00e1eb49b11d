// SPDX-License-Identifier: Apache-2.0
// Decides whether a standby is current enough to be queried instead of the primary.
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

/// Increments a counter (a beat) in the primary and reads it from the standby. The standby has
/// everything that was committed before the newest beat it has. Only this process's clock is used,
/// so differing clocks do no harm. A standby that has lost its primary counts as too old.
class ReplicaWatch {
public:
    ReplicaWatch(std::string primary, std::string replica, std::int64_t most_lag_ms,
                 sys::Runtime& runtime, WaitLimits limits = {})
        : primary_(std::move(primary)),
          replica_(std::move(replica)),
          most_lag_ms_(most_lag_ms),
          runtime_(runtime),
          limits_(std::move(limits)) {}

    /// Writes one beat and reads the standby. One thread calls this about once a second.
    Result<void> look();
    /// Returns true if look() failed now but not the time before. Call it after look() has failed.
    bool newly_silent() { return !failed_.exchange(true); }

    /// Reports whether the standby may be queried. May be called from any thread.
    bool usable() const;
    /// Reports whether a standby that has `beat` is current enough. Several standbys may share one
    /// URL, so each connection checks its own beat.
    bool near(std::int64_t beat) const;
    /// Returns the maximum age of the standby's content in milliseconds; -1 means unknown.
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
    WaitLimits limits_;
    std::unique_ptr<Database> primary_db_, replica_db_;
    mutable std::mutex mutex_;
    /// this process's beats that are recent or not yet on the standby
    std::deque<Heartbeat> beats_;
    std::atomic<std::int64_t> fresh_at_{-1};
    std::atomic<bool> failed_{false};
};

}  // namespace bunraku::store
