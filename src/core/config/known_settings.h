// SPDX-License-Identifier: Apache-2.0
// Names of settings beyond Puppet's table: Bunraku's own settings, settings without effect, and
// removed settings.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bunraku::config {

/// A setting of Puppet that Bunraku does not honour.
struct IdleSetting {
    std::string_view name;
    std::string_view instead;  ///< what happens instead
};
std::span<const IdleSetting> idle_settings();
/// Returns null if Bunraku honours the setting.
const IdleSetting* find_idle_setting(std::string_view name);

/// Reports whether older versions of Puppet have this setting but Puppet 8 does not.
bool is_gone_setting(std::string_view name);

/// Reports whether Puppet or Bunraku has a setting of that name. In names of server and store
/// settings, dashes count as underscores, as in aliased_setting.
bool is_known_setting(std::string_view name);

/// Returns known names that `name` may be a misspelling of, the nearest first.
std::vector<std::string> similar_settings(std::string_view name);

}  // namespace bunraku::config
