// Names of settings beyond Puppet's table: Bunraku's own, those without effect, those that are
// gone.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace bunraku::config {

/// A setting of Puppet that Bunraku does not honour.
struct IdleSetting {
    std::string_view name;
    std::string_view instead;  ///< what happens in place of it
};
std::span<const IdleSetting> idle_settings();
/// Returns null if Bunraku honours the setting.
const IdleSetting* find_idle_setting(std::string_view name);

/// Whether it is a setting of older Puppets that Puppet 8 does not have.
bool is_gone_setting(std::string_view name);

/// Whether Puppet or Bunraku has a setting of that name. Dashes count as underscores in names of
/// the server's and the store's settings, as either_setting reads them.
bool is_known_setting(std::string_view name);

/// Returns the known names that `name` was probably meant to be, the nearest first.
std::vector<std::string> similar_settings(std::string_view name);

}  // namespace bunraku::config
