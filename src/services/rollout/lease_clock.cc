// SPDX-License-Identifier: Apache-2.0
#include "services/rollout/lease_clock.h"

#include <algorithm>

namespace bunraku::rollout {

namespace {

constexpr std::int64_t kMillisecond = 1'000'000;

}  // namespace

std::int64_t LeaseClock::counted_until_now(const Sight& sight) const {
    constexpr std::int64_t kLongest = std::chrono::nanoseconds(kLongestGap).count();
    return sight.counted_ns + std::min(clock_.monotonic_ns() - sight.observed_ns, kLongest);
}

void LeaseClock::observe(std::string_view key, const State& state) {
    const std::lock_guard lock(mutex_);
    auto at = sights_.find(key);
    if (at == sights_.end()) at = sights_.emplace(key, Sight()).first;
    Sight& sight = at->second;
    const bool same = sight.observed_ns != 0 && sight.state == state;
    sight.counted_ns = same ? counted_until_now(sight) : 0;
    sight.observed_ns = clock_.monotonic_ns();
    sight.state = state;
}

std::int64_t LeaseClock::unchanged(std::string_view key, const State& state) const {
    const std::lock_guard lock(mutex_);
    const auto at = sights_.find(key);
    if (at == sights_.end() || at->second.state != state) return 0;
    return counted_until_now(at->second) / kMillisecond;
}

void LeaseClock::restart() {
    const std::lock_guard lock(mutex_);
    sights_.clear();
}

std::int64_t StepDetector::observe(std::int64_t database_ms) {
    const std::int64_t now = clock_.monotonic_ns();
    const bool first = monotonic_ns_ == 0;
    const std::int64_t step = database_ms - database_ms_ - (now - monotonic_ns_) / kMillisecond;
    database_ms_ = database_ms;
    monotonic_ns_ = now;
    if (first || (step > -kTolerance && step < kTolerance)) return 0;
    stepped_ns_ = now;
    return step;
}

bool StepDetector::stepped_within(std::chrono::milliseconds time) const {
    return stepped_ns_ && clock_.monotonic_ns() - *stepped_ns_ < time.count() * kMillisecond;
}

}  // namespace bunraku::rollout
