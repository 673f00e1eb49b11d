// SPDX-License-Identifier: Apache-2.0
// Measures how long other parties have been silent. The clocks of the database and of machines may
// step, so only the monotonic clock of this process counts.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "core/sys/clock.h"

namespace bunraku::rollout {

/// Watches states that others change, such as the row of a server, and returns how long each has
/// been unchanged. Counts only time in which the caller observed the state repeatedly, because a
/// process that hangs may miss changes. Thread-safe.
class LeaseClock {
public:
    /// Longest time between two observations that counts.
    static constexpr std::chrono::minutes kLongestGap{5};

    /// Identifies a state by two numbers that change whenever the other party acts.
    using State = std::pair<std::int64_t, std::int64_t>;

    explicit LeaseClock(sys::Clock& clock) : clock_(clock) {}

    /// Records the present state of `key`, which the caller has just read.
    void observe(std::string_view key, const State& state);
    /// Returns the number of milliseconds for which `key` is known to have this state. Returns 0 if
    /// it has not been observed, or if the last observation was of another state.
    std::int64_t unchanged(std::string_view key, const State& state) const;
    /// Starts all measurements again, for example after a time in which nothing could be observed.
    void restart();

private:
    struct Sight {
        State state;
        std::int64_t observed_ns = 0;  ///< time of the last observation
        std::int64_t counted_ns = 0;   ///< time until then in which the state has not changed
    };
    std::int64_t counted_until_now(const Sight& sight) const;
    sys::Clock& clock_;
    mutable std::mutex mutex_;
    std::map<std::string, Sight, std::less<>> sights_;
};

/// Finds steps of the database's clock, by comparing its progress with the monotonic clock.
class StepDetector {
public:
    explicit StepDetector(sys::Clock& clock) : clock_(clock) {}

    /// Smaller differences, in milliseconds, are not steps.
    static constexpr std::int64_t kTolerance = 60'000;

    /// Returns by how many milliseconds the clock has stepped since the last call, for a time that
    /// the caller has just read from the database. Returns 0 at the first call and without a step.
    std::int64_t observe(std::int64_t database_ms);
    /// Reports whether a step was found in the last `time`.
    bool stepped_within(std::chrono::milliseconds time) const;

private:
    sys::Clock& clock_;
    std::int64_t database_ms_ = 0, monotonic_ns_ = 0;
    std::optional<std::int64_t> stepped_ns_;  ///< monotonic time of the last step
};

}  // namespace bunraku::rollout
