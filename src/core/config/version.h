// Which Puppet this program is one of.
#pragma once

#include <string_view>

namespace bunraku::config {

/// The version of Puppet whose language and settings this program follows.
inline constexpr std::string_view kPuppetVersion = "8.11.0";

}  // namespace bunraku::config
