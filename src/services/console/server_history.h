// SPDX-License-Identifier: Apache-2.0
// Figures of the server over the last hour, for sparklines. In memory only.
#pragma once

#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "core/base/counters.h"
#include "core/sys/executor.h"

namespace bunraku::console {

/// Reads the figures once a minute. Thread-safe.
class ServerHistory {
public:
    ServerHistory(const base::Counters& counters, sys::Executor& aside);

    /// The figures at one time. The first three count since the start of the server.
    struct Sample {
        double requests = 0, compiles = 0, commands = 0;
        double queue = 0, memory = 0;
    };
    /// Returns the numbers of events in each minute, oldest first. Empty during the first minute.
    std::vector<double> per_minute(double Sample::* figure) const;
    /// Returns the values of each minute, oldest first.
    std::vector<double> values(double Sample::* figure) const;

    /// Reads the figures now, as the timer does.
    void take();

    static constexpr sys::Duration kPause = std::chrono::minutes(1);
    static constexpr std::size_t kMost = 61;  ///< the differences of an hour

private:
    void schedule();

    const base::Counters& counters_;
    sys::Executor& aside_;
    mutable std::mutex mutex_;
    std::deque<Sample> samples_;
};

}  // namespace bunraku::console
