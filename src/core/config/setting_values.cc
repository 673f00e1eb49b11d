// SPDX-License-Identifier: Apache-2.0
#include "core/config/setting_values.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/config/setting_aliases.h"

namespace bunraku::config {

using base::failure;
using base::Result;

namespace {

std::optional<std::int64_t> whole_number(std::string_view text) {
    if (text.empty() || text.size() > 15) return std::nullopt;
    std::int64_t out = 0;
    for (char c : text) {
        if (c < '0' || c > '9') return std::nullopt;
        out = out * 10 + (c - '0');
    }
    return out;
}

}  // namespace

std::optional<std::int64_t> parse_period(std::string_view text) {
    auto unit = text.find_first_not_of("0123456789");
    auto number = whole_number(text.substr(0, unit));
    if (!number) return std::nullopt;
    if (unit == std::string_view::npos) return *number == 0 ? number : std::nullopt;
    auto name = text.substr(unit);
    std::int64_t factor = name == "ms"  ? 1
                          : name == "s" ? 1000
                          : name == "m" ? 60'000
                          : name == "h" ? 3'600'000
                          : name == "d" ? 86'400'000
                                        : 0;
    if (factor == 0 || *number > INT64_MAX / factor) return std::nullopt;
    return *number * factor;
}

Result<std::int64_t> period_setting(const Settings& settings, std::string_view name,
                                    std::int64_t otherwise, std::int64_t unit_ms) {
    auto text = aliased_setting(settings, name);
    if (text.empty()) return otherwise;
    if (auto period = parse_period(text)) return *period;
    if (auto number = whole_number(text); number && *number < INT64_MAX / unit_ms)
        return *number * unit_ms;
    return failure(
        fmt::format("The setting {} is not a time period (7d, 12h, 30m, 10s): {}", name, text));
}

Result<std::int64_t> number_setting(const Settings& settings, std::string_view name,
                                    std::int64_t otherwise) {
    auto text = aliased_setting(settings, name);
    if (text.empty()) return otherwise;
    if (auto number = whole_number(text)) return *number;
    return failure(fmt::format("The setting {} is not a number: {}", name, text));
}

Result<CompileLimits> compile_limits(const Settings& settings, CompileLimits otherwise) {
    constexpr int kMegabyteBits = 20;
    const auto megabytes = BUNRAKU_TRY(
        number_setting(settings, "max-compile-memory", otherwise.memory_bytes >> kMegabyteBits));
    if (megabytes < 1) return failure("The setting max-compile-memory is less than 1 (MiB)");
    if (megabytes > (INT64_MAX >> kMegabyteBits))
        return failure("The setting max-compile-memory is too large");
    const auto time =
        BUNRAKU_TRY(period_setting(settings, "compile-timeout", otherwise.time_ms, 1000));
    return CompileLimits{.time_ms = time, .memory_bytes = megabytes << kMegabyteBits};
}

}  // namespace bunraku::config
