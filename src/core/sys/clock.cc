// SPDX-License-Identifier: Apache-2.0
#include "core/sys/clock.h"

#include <cerrno>
#include <ctime>

#include "core/base/civil_time.h"

namespace bunraku::sys {

namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

std::int64_t read_clock(clockid_t id) {
    timespec t{};
    ::clock_gettime(id, &t);
    return t.tv_sec * kSecond + t.tv_nsec;
}

class RealClock final : public Clock {
public:
    std::int64_t now_ns() override { return read_clock(CLOCK_REALTIME); }
    std::int64_t monotonic_ns() override { return read_clock(CLOCK_MONOTONIC); }
    void sleep_ns(std::int64_t ns) override {
        timespec left{ns / kSecond, ns % kSecond};
        while (::nanosleep(&left, &left) != 0 && errno == EINTR) {
        }
    }
};

}  // namespace

std::unique_ptr<Clock> make_real_clock() { return std::make_unique<RealClock>(); }

std::string iso8601_utc(std::int64_t ns, int digits) {
    return base::iso_text(base::civil_time_ns(ns), digits);
}

std::string local_text(std::int64_t ns) {
    return base::iso_text(base::local_time_ns(ns), 0, " +0000", ' ');
}

}  // namespace bunraku::sys
