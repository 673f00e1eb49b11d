// Settings of PuppetDB, which Puppet's own table does not have: looked up with dashes and
// underscores, read in PuppetDB's units.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "core/config/setting_aliases.h"
#include "core/config/settings.h"

namespace bunraku::server {

using config::aliased_setting;
/// "14d", "12h", "30m", "10s", "500ms", "0" in milliseconds (PuppetDB's time periods); nullopt:
/// none.
std::optional<std::int64_t> parse_period(std::string_view text);
/// The setting as a period, or `otherwise` where nobody set it. A bare number counts in `unit_ms`.
base::Result<std::int64_t> period_setting(const config::Settings& settings, std::string_view name,
                                          std::int64_t otherwise, std::int64_t unit_ms);
base::Result<std::int64_t> number_setting(const config::Settings& settings, std::string_view name,
                                          std::int64_t otherwise);

}  // namespace bunraku::server
