// SPDX-License-Identifier: Apache-2.0
// Settings that Puppet's own table does not contain. Names may be written with dashes or
// underscores, and values have PuppetDB's units.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/config/settings.h"

namespace bunraku::config {

/// Parses a time period of PuppetDB ("14d", "12h", "30m", "10s", "500ms", "0") to milliseconds.
/// Returns nullopt if it is invalid.
std::optional<std::int64_t> parse_period(std::string_view text);
/// Returns the setting as a period, or `otherwise` if it is not set. A number without a unit is
/// multiplied by `unit_ms`.
base::Result<std::int64_t> period_setting(const Settings& settings, std::string_view name,
                                          std::int64_t otherwise, std::int64_t unit_ms);
base::Result<std::int64_t> number_setting(const Settings& settings, std::string_view name,
                                          std::int64_t otherwise);

/// The limits of one compile.
struct CompileLimits {
    std::int64_t time_ms = 0;       ///< compile-timeout; 0 means unlimited
    std::int64_t memory_bytes = 0;  ///< max-compile-memory
};
/// Returns the limits of the settings, or those of `otherwise` if a setting is not set.
base::Result<CompileLimits> compile_limits(const Settings& settings, CompileLimits otherwise);

}  // namespace bunraku::config
