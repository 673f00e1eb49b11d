// SPDX-License-Identifier: Apache-2.0
// The type schedule.
#include "resources/apply/schedule.h"

#include <array>
#include <ctime>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/base/text.h"
#include "core/regex/regex.h"
#include "resources/apply/registry.h"

namespace bunraku::apply {

using base::PuppetError;

namespace {

using Clock3 = std::array<int, 3>;

Clock3 clock_of(std::string_view text) {
    Clock3 out{};
    std::size_t i = 0;
    for (const std::string& part : base::texts(base::split(text, ':'))) {
        if (i < 3) out[i++] = std::atoi(part.c_str());
    }
    return out;
}

// Parses a range such as "2 - 4" or "22:30-4:30".
std::pair<Clock3, Clock3> range_of(std::string_view text) {
    auto parts = base::split(text, '-');
    if (parts.size() != 2) throw PuppetError(fmt::format("Invalid range {}", text));
    return {clock_of(parts[0]), clock_of(parts[1])};
}

int weekday_of(const Value& v) {
    std::string text = plain(v);
    if (text.size() == 1 && text[0] >= '0' && text[0] <= '6') return text[0] - '0';
    constexpr std::string_view kDays[] = {"sun", "mon", "tue", "wed", "thu", "fri", "sat"};
    base::make_lower(text);
    for (int i = 0; i < 7; ++i) {
        if (text.substr(0, 3) == kDays[i]) return i;
    }
    return -1;
}

std::vector<Value> list(const Value& v) {
    if (v.is_undef()) return {};
    if (v.is_array()) return {v.as_array().begin(), v.as_array().end()};
    return {v};
}

class Schedule final : public Resource {
public:
    using Resource::Resource;
    bool can_list() const override { return true; }  // returns an empty list, as in Puppet

    bool set_whole(const Attribute& a, const Value& v) override {
        if (a.name == "range") {
            for (const Value& one : list(v)) check_range(a, v, one);
            param_slot(a).value = v;
            return true;
        }
        if (a.name == "weekday") {
            for (const Value& one : list(v)) {
                auto re = regex::Regex::cached(
                    "^([0-6]|(Mon|Tues?|Wed(?:nes)?|Thu(?:rs)?|Fri|Sat(?:ur)?|Sun)(day)?)$",
                    regex::kIgnoreCase);
                if (!(one.is_string() || one.is_integer()) || !re || !(*re)->matches(plain(one))) {
                    throw PuppetError(fmt::format("{} is not a valid day of the week", plain(one)));
                }
            }
            param_slot(a).value = v;
            return true;
        }
        return false;
    }

    void validate_value(const Attribute& a, const Value& v) override {
        if (a.name != "repeat") return Resource::validate_value(a, v);
        std::string text = plain(v);
        if (text.empty() || text.find_first_not_of("0123456789") != std::string::npos) {
            throw PuppetError("Repeat must be a number");
        }
        Value match = get("periodmatch");
        if (!match.is_undef() && text != "1" && !is_word(match, "distance")) {
            throw PuppetError(fmt::format(
                "Repeat must be 1 unless periodmatch is 'distance', not '{}'", plain(match)));
        }
    }

    Value munge(const Attribute& a, const Value& v) override {
        if (a.name == "repeat") return Value::integer(std::atoll(plain(v).c_str()));
        return Resource::munge(a, v);
    }

    Value default_for(const Attribute& a) override {
        if (a.name == "periodmatch") return Value::string("distance");
        if (a.name == "repeat") return Value::integer(1);
        return Value::undef();
    }

private:
    static void check_range(const Attribute& a, const Value& whole, const Value& v) {
        auto re = regex::Regex::cached("\\d+(:\\d+){0,2}\\s*-\\s*\\d+(:\\d+){0,2}");
        if (!v.is_string() || !re || !(*re)->matches(v.as_string())) {
            throw PuppetError(fmt::format("Invalid range value '{}'", plain(v)));
        }
        auto [from, to] = range_of(v.as_string());
        for (int hour : {from[0], to[0]}) {
            if (hour < 0 || hour > 23) {
                munging_failed(a, whole, fmt::format("Invalid hour '{}'", hour));
            }
        }
        for (int minute : {from[1], to[1]}) {
            if (minute < 0 || minute > 59) {
                munging_failed(a, whole, fmt::format("Invalid minute '{}'", minute));
            }
        }
    }
};

std::tm local(std::int64_t t) {
    std::tm out{};
    std::time_t time = t;
    localtime_r(&time, &out);
    return out;
}

// Returns the given local time of day, `days` after today.
std::int64_t at(const std::tm& today, int days, const Clock3& c) {
    std::tm tm = today;
    tm.tm_mday += days;
    tm.tm_hour = c[0];
    tm.tm_min = c[1];
    tm.tm_sec = c[2];
    tm.tm_isdst = -1;
    return std::mktime(&tm);
}

bool weekday_allowed(const Resource& s, int day) {
    BUNRAKU_ASSERT(day >= 0 && day <= 6);
    auto days = list(s.get("weekday"));
    if (days.empty()) return true;
    for (const Value& v : days) {
        if (weekday_of(v) == day) return true;
    }
    return false;
}

bool range_matches(const Resource& s, std::int64_t now) {
    std::tm today = local(now);
    for (const Value& v : list(s.get("range"))) {
        auto [from, to] = range_of(plain(v));
        std::int64_t begin = at(today, 0, from);
        std::int64_t end = at(today, 0, to);
        if (begin < end) {
            if (now >= begin && now <= end && weekday_allowed(s, today.tm_wday)) return true;
        } else if (now >= begin && now <= at(today, 1, to)) {
            if (weekday_allowed(s, today.tm_wday)) return true;
        } else if (now >= at(today, -1, from) && now <= end &&
                   weekday_allowed(s, (today.tm_wday + 6) % 7)) {
            return true;
        }
    }
    return false;
}

bool period_matches(const Resource& s, std::int64_t previous, std::int64_t now) {
    std::string period = s.text("period");
    if (period == "never") return false;
    if (s.text("periodmatch") == "number") {
        std::tm a = local(previous), b = local(now);
        if (period == "hourly") return a.tm_hour != b.tm_hour;
        if (period == "daily") return a.tm_mday != b.tm_mday;
        if (period == "monthly") return a.tm_mon != b.tm_mon;
        return a.tm_wday > b.tm_wday || now - previous > 7 * 24 * 3600;
    }
    std::int64_t scale = period == "hourly"   ? 3600
                         : period == "daily"  ? 86400
                         : period == "weekly" ? 604800
                                              : 2592000;
    Value repeat = s.get("repeat");
    std::int64_t times = repeat.is_integer() && repeat.as_integer() > 0 ? repeat.as_integer() : 1;
    BUNRAKU_ASSERT(times >= 1 && scale >= 3600);
    return now - previous >= scale / times;
}

}  // namespace

bool schedule_matches(const Resource& s, std::int64_t previous, std::int64_t now) {
    if (!s.get("range").is_undef() && !range_matches(s, now)) return false;
    if (!s.get("period").is_undef() && !period_matches(s, previous, now)) return false;
    if (!s.get("weekday").is_undef() && s.get("range").is_undef() &&
        !weekday_allowed(s, local(now).tm_wday)) {
        return false;
    }
    return true;
}

std::unique_ptr<Resource> make_schedule(Context& context, const TypeSpec& spec) {
    return std::make_unique<Schedule>(context, spec);
}

}  // namespace bunraku::apply
