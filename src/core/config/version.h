// SPDX-License-Identifier: Apache-2.0
// The compatible version of Puppet.
#pragma once

#include <string_view>

namespace bunraku::config {

/// The version of Puppet whose language and settings this program follows.
inline constexpr std::string_view kPuppetVersion = "8.11.0";

}  // namespace bunraku::config
