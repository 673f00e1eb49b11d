#include "catalog/wire_time.h"

#include <chrono>
#include <fmt/format.h>

namespace bunraku::catalog {

namespace {

/// Takes `n` digits off the front.
bool digits(std::string_view& text, std::size_t n, int* out) {
    if (text.size() < n) return false;
    int v = 0;
    for (std::size_t i = 0; i < n; ++i) {
        if (text[i] < '0' || text[i] > '9') return false;
        v = v * 10 + (text[i] - '0');
    }
    text.remove_prefix(n);
    *out = v;
    return true;
}

bool literal(std::string_view& text, char c) {
    if (text.empty() || text.front() != c) return false;
    text.remove_prefix(1);
    return true;
}

}  // namespace

std::string format_wire_time(std::int64_t milliseconds) {
    using namespace std::chrono;
    sys_time<std::chrono::milliseconds> at{std::chrono::milliseconds(milliseconds)};
    auto day = floor<days>(at);
    year_month_day date{day};
    hh_mm_ss time{at - day};
    return fmt::format("{:04}-{:02}-{:02}T{:02}:{:02}:{:02}.{:03}Z", static_cast<int>(date.year()),
                       static_cast<unsigned>(date.month()), static_cast<unsigned>(date.day()),
                       time.hours().count(), time.minutes().count(), time.seconds().count(),
                       time.subseconds().count());
}

std::optional<std::int64_t> parse_wire_time(std::string_view text) {
    using namespace std::chrono;
    int y = 0, mo = 0, d = 0, h = 0, mi = 0, s = 0;
    bool ok =
        digits(text, 4, &y) && literal(text, '-') && digits(text, 2, &mo) && literal(text, '-') &&
        digits(text, 2, &d) && (literal(text, 'T') || literal(text, ' ')) && digits(text, 2, &h) &&
        literal(text, ':') && digits(text, 2, &mi) && literal(text, ':') && digits(text, 2, &s);
    if (!ok || h > 23 || mi > 59 || s > 60) return std::nullopt;
    year_month_day date{year(y), month(static_cast<unsigned>(mo)), day(static_cast<unsigned>(d))};
    if (!date.ok()) return std::nullopt;
    std::int64_t fraction = 0;
    if (literal(text, '.') || literal(text, ',')) {
        int n = 0;
        std::int64_t scale = 100;
        while (!text.empty() && text.front() >= '0' && text.front() <= '9') {
            fraction += (text.front() - '0') * scale;
            scale /= 10;
            text.remove_prefix(1);
            if (++n > 9) return std::nullopt;
        }
        if (n == 0) return std::nullopt;
    }
    std::int64_t offset = 0;
    if (!literal(text, 'Z')) {
        bool minus = !text.empty() && text.front() == '-';
        if (!minus && (text.empty() || text.front() != '+')) return std::nullopt;
        text.remove_prefix(1);
        int oh = 0, om = 0;
        if (!digits(text, 2, &oh)) return std::nullopt;
        literal(text, ':');
        if (!digits(text, 2, &om) || oh > 23 || om > 59) return std::nullopt;
        offset = (oh * 60 + om) * 60 * (minus ? -1 : 1);
    }
    if (!text.empty()) return std::nullopt;
    auto days_since = sys_days(date).time_since_epoch().count();
    return ((std::int64_t{days_since} * 86400 + h * 3600 + mi * 60 + s) - offset) * 1000 + fraction;
}

}  // namespace bunraku::catalog
