// SPDX-License-Identifier: Apache-2.0
#include "services/rollout/rules.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <functional>

#include "core/base/civil_time.h"
#include "core/base/number.h"
#include "core/base/text.h"
#include "core/codec/yaml.h"
#include "core/config/munge.h"

namespace bunraku::rollout {

using base::failure;
using base::Result;
using codec::YamlNode;
using Kind = YamlNode::Kind;

namespace {

constexpr std::array<std::string_view, 7> kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
constexpr int kMinutes = 24 * 60;

std::string shown(const YamlNode& node) {
    switch (node.kind) {
        case Kind::Null: return "nothing";
        case Kind::Boolean: return node.boolean ? "true" : "false";
        case Kind::Integer: return fmt::format("{}", node.integer);
        case Kind::Float: return fmt::format("{}", node.number);
        case Kind::String: return fmt::format("'{}'", node.text);
        case Kind::Sequence: return "a list";
        case Kind::Mapping: return "a mapping";
    }
    return {};
}

std::unexpected<base::Error> wrong(std::string_view expected, const YamlNode& node) {
    return failure(fmt::format("expected {}, not {}", expected, shown(node)));
}

Result<std::string> text_of(const YamlNode& node) {
    if (node.kind != Kind::String || node.text.empty()) return wrong("a text", node);
    return node.text;
}

/// Reads a list of texts; a single text is a list of one.
Result<std::vector<std::string>> texts_of(const YamlNode& node) {
    std::vector<std::string> out;
    if (node.kind == Kind::String) return std::vector{BUNRAKU_TRY(text_of(node))};
    if (node.kind != Kind::Sequence) return wrong("a list of texts", node);
    for (const YamlNode& item : node.items) out.push_back(BUNRAKU_TRY(text_of(item)));
    return out;
}

Result<std::int64_t> count_of(const YamlNode& node) {
    if (node.kind != Kind::Integer || node.integer < 0 || node.integer > 1'000'000)
        return wrong("a number", node);
    return node.integer;
}

/// Reads "10%" or "2.5%" as a share above 0 and up to 1.
Result<double> share_of(const YamlNode& node) {
    const std::string_view expected = "a percentage such as 10%";
    if (node.kind != Kind::String || !node.text.ends_with('%')) return wrong(expected, node);
    const std::string_view digits = std::string_view(node.text).substr(0, node.text.size() - 1);
    double out = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), out,
                                              std::chars_format::fixed);
    if (error != std::errc() || end != digits.data() + digits.size() || !(out > 0 && out <= 100))
        return wrong(expected, node);
    return out / 100;
}

Result<std::int64_t> seconds_of(const YamlNode& node) {
    const std::string text =
        node.kind == Kind::Integer ? fmt::format("{}", node.integer) : node.text;
    const auto seconds = config::duration_seconds(text);
    const auto number = base::parse_integer<std::int64_t>(seconds.value_or(""));
    constexpr std::int64_t kYear = 366LL * 86400;
    if (!number || *number < 0 || *number > kYear) return wrong("a duration such as 30m", node);
    return *number;
}

Result<double> number_of(const YamlNode& node) {
    if (node.kind == Kind::Integer) return static_cast<double>(node.integer);
    if (node.kind == Kind::Float && std::isfinite(node.number)) return node.number;
    return wrong("a number", node);
}

Result<std::string> url_of(const YamlNode& node) {
    const bool url = node.kind == Kind::String &&
                     (node.text.starts_with("http://") || node.text.starts_with("https://"));
    if (!url) return wrong("an address such as http://prometheus:9090", node);
    return node.text;
}

Result<bool> flag_of(const YamlNode& node) {
    if (node.kind != Kind::Boolean) return wrong("true or false", node);
    return node.boolean;
}

Result<std::vector<double>> waves_of(const YamlNode& node) {
    if (node.kind != Kind::Sequence || node.items.empty())
        return wrong("a list such as [1%, 10%, 100%]", node);
    std::vector<double> out;
    for (const YamlNode& item : node.items) {
        out.push_back(BUNRAKU_TRY(share_of(item)));
        if (out.size() > 1 && out[out.size() - 2] >= out.back())
            return failure("each wave must be larger than the one before");
    }
    if (out.back() != 1) out.push_back(1);
    return out;
}

std::optional<int> day_of(std::string_view text) {
    const auto at = std::ranges::find(kDays, text);
    if (at == kDays.end()) return std::nullopt;
    return static_cast<int>(at - kDays.begin());
}

std::optional<int> minute_of(std::string_view text) {
    const auto colon = text.find(':');
    if (colon == std::string_view::npos || text.size() != colon + 3) return std::nullopt;
    const auto hour = base::parse_integer<unsigned>(text.substr(0, colon));
    const auto minute = base::parse_integer<unsigned>(text.substr(colon + 1));
    if (!hour || !minute || *hour > 24 || *minute > 59) return std::nullopt;
    const int out = static_cast<int>(*hour * 60 + *minute);
    return out <= kMinutes ? std::optional(out) : std::nullopt;
}

/// Reads "Mon-Fri 09:00-16:00" or "Sat 08:00-12:00".
std::optional<Window> window_of(std::string_view text) {
    const auto words = base::words(text);
    if (words.size() != 2) return std::nullopt;
    const auto days = base::split(words[0], '-'), times = base::split(words[1], '-');
    if (days.size() > 2 || times.size() != 2) return std::nullopt;
    const auto first = day_of(days.front()), last = day_of(days.back());
    const auto begin = minute_of(times[0]), end = minute_of(times[1]);
    if (!first || !last || !begin || !end || *begin >= *end) return std::nullopt;
    Window out{.begin = *begin, .end = *end};
    for (int day = *first;; day = (day + 1) % 7) {
        out.days = static_cast<std::uint8_t>(out.days | (1U << day));
        if (day == *last) return out;
    }
}

Result<std::vector<Window>> windows_of(const YamlNode& node) {
    std::vector<Window> out;
    for (const std::string& text : BUNRAKU_TRY(texts_of(node))) {
        const auto window = window_of(text);
        if (!window) {
            return failure(fmt::format(
                "expected times such as 'Mon-Fri 09:00-16:00' (in UTC), not '{}'", text));
        }
        out.push_back(*window);
    }
    return out;
}

Result<std::vector<std::int64_t>> approvals_of(const YamlNode& node) {
    std::vector<std::int64_t> out;
    if (node.kind != Kind::Sequence) return wrong("a list of wave numbers", node);
    for (const YamlNode& item : node.items) out.push_back(BUNRAKU_TRY(count_of(item)));
    return out;
}

/// One key of a mapping, and how its value is read.
struct Key {
    std::string_view name;
    std::function<Result<void>(const YamlNode&)> read;
};

template <class T, class Read>
auto into(T& target, Result<Read> (*read)(const YamlNode&)) {
    return [&target, read](const YamlNode& node) -> Result<void> {
        target = BUNRAKU_TRY(read(node));
        return {};
    };
}

/// Reads "keep", "remove" or a list of types such as [file, package].
Result<std::vector<std::string>> rollback_of(const YamlNode& node) {
    constexpr std::string_view kExpected =
        "'keep', 'remove' or a list of file, service, cron, "
        "package and user";
    if (node.kind == Kind::String && node.text == "keep") return std::vector<std::string>();
    // A package manager may remove what depends on a package, and files of a removed user lose
    // their owner, so these two must be listed.
    if (node.kind == Kind::String && node.text == "remove")
        return std::vector<std::string>{"File", "Service", "Cron"};
    if (node.kind != Kind::Sequence) return wrong(kExpected, node);
    constexpr std::array<std::string_view, 5> kTypes = {"file", "service", "cron", "package",
                                                        "user"};
    std::vector<std::string> out;
    for (const YamlNode& item : node.items) {
        if (item.kind != Kind::String || std::ranges::find(kTypes, item.text) == kTypes.end())
            return wrong(kExpected, item);
        out.push_back(base::capitalized(item.text));
    }
    return out;
}

/// Reads one of two words; the first one is `true`.
auto choice(bool& target, std::string_view yes, std::string_view no) {
    return [&target, yes, no](const YamlNode& node) -> Result<void> {
        if (node.kind != Kind::String || (node.text != yes && node.text != no))
            return wrong(fmt::format("'{}' or '{}'", yes, no), node);
        target = node.text == yes;
        return {};
    };
}

Result<void> read_mapping(const YamlNode& node, const std::vector<Key>& keys) {
    if (node.kind == Kind::Null) return {};
    if (node.kind != Kind::Mapping) return wrong("a mapping", node);
    for (const codec::YamlEntry& entry : node.entries) {
        const auto key = std::ranges::find(keys, std::string_view(entry.first.text), &Key::name);
        if (entry.first.kind != Kind::String || key == keys.end()) {
            std::string known;
            for (const Key& k : keys) known += (known.empty() ? "" : ", ") + std::string(k.name);
            return failure(
                fmt::format("unknown key {}; the keys are {}", shown(entry.first), known));
        }
        if (auto done = key->read(entry.second); !done)
            return failure(fmt::format("{}: {}", key->name, done.error().message));
    }
    return {};
}

}  // namespace

bool Rules::open_at(std::int64_t time_s) const {
    if (windows.empty()) return true;
    const base::CivilTime time = base::civil_time(time_s);
    const int day = base::weekday(time.days()), minute = time.hour * 60 + time.minute;
    return std::ranges::any_of(windows, [&](const Window& w) {
        return (w.days >> day & 1U) != 0 && minute >= w.begin && minute < w.end;
    });
}

bool Rules::needs_approval(std::int64_t wave) const {
    return std::ranges::find(approve, wave) != approve.end();
}

Result<Rules> read_rules(std::string_view text) {
    Rules out;
    const auto document = codec::parse_yaml(text, "rollout.yaml");
    if (!document) return std::unexpected(document.error());
    bool approve_any = true;
    const auto read_thresholds = [&](const YamlNode& node) {
        return read_mapping(node, {{"canary", into(out.canary_failures, count_of)},
                                   {"later", into(out.failures, share_of)},
                                   {"least", into(out.least_failures, count_of)}});
    };
    const auto read_check = [&](const YamlNode& node) {
        return read_mapping(node, {{"command", into(out.check.command, texts_of)},
                                   {"prometheus", into(out.check.prometheus, url_of)},
                                   {"query", into(out.check.query, text_of)},
                                   {"min", into(out.check.least, number_of)},
                                   {"max", into(out.check.most, number_of)},
                                   {"timeout", into(out.check.timeout_s, seconds_of)}});
    };
    auto done = read_mapping(*document, {{"waves", into(out.waves, waves_of)},
                                         {"canaries", into(out.canaries, texts_of)},
                                         {"canary_limit", into(out.canary_limit, count_of)},
                                         {"spread", into(out.spread, texts_of)},
                                         {"exclude", into(out.exclude, texts_of)},
                                         {"windows", into(out.windows, windows_of)},
                                         {"soak", into(out.soak_s, seconds_of)},
                                         {"approve", into(out.approve, approvals_of)},
                                         {"approve_by", choice(approve_any, "any", "other")},
                                         {"proofs", into(out.proofs, count_of)},
                                         {"proved", into(out.proved, share_of)},
                                         {"thresholds", read_thresholds},
                                         {"silent_after", into(out.silent_after_s, seconds_of)},
                                         {"check", read_check},
                                         {"back", choice(out.go_back, "auto", "ask")},
                                         {"rollback", into(out.rollback, rollback_of)},
                                         {"observe", into(out.observe, flag_of)},
                                         {"try", choice(out.agents_may_try, "agents", "operators")},
                                         {"webhook", into(out.webhook, text_of)}});
    if (!done) return failure(fmt::format("rollout.yaml: {}", done.error().message));
    if (out.check.prometheus.empty() != out.check.query.empty())
        return failure("rollout.yaml: check: 'prometheus' and 'query' belong together");
    if (!out.check.query.empty() && !out.check.least && !out.check.most)
        return failure("rollout.yaml: check: the query needs 'min' or 'max'");
    out.approve_by_another = !approve_any;
    return out;
}

}  // namespace bunraku::rollout
