#include "sys/clock.h"

#include <cerrno>
#include <ctime>
#include <fmt/format.h>

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

std::int64_t floor_seconds(std::int64_t ns) { return ns / kSecond - (ns % kSecond < 0 ? 1 : 0); }

}  // namespace

std::unique_ptr<Clock> make_real_clock() { return std::make_unique<RealClock>(); }

std::string iso8601_utc(std::int64_t ns, int digits) {
    time_t seconds = floor_seconds(ns);
    std::int64_t fraction = ns - seconds * kSecond;
    tm t{};
    ::gmtime_r(&seconds, &t);
    std::string text = fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}", t.tm_year + 1900,
                                   t.tm_mon + 1, t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec);
    if (digits > 0) text += "." + fmt::format("{:09}", fraction).substr(0, digits > 9 ? 9 : digits);
    return text + "Z";
}

std::string local_text(std::int64_t ns) {
    time_t seconds = floor_seconds(ns);
    tm t{};
    ::localtime_r(&seconds, &t);
    long offset = t.tm_gmtoff / 60;
    return fmt::format("{:04}-{:02}-{:02} {:02}:{:02}:{:02} {}{:02}{:02}", t.tm_year + 1900,
                       t.tm_mon + 1, t.tm_mday, t.tm_hour, t.tm_min, t.tm_sec,
                       offset < 0 ? '-' : '+', (offset < 0 ? -offset : offset) / 60,
                       (offset < 0 ? -offset : offset) % 60);
}

}  // namespace bunraku::sys
