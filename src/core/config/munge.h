// SPDX-License-Identifier: Apache-2.0
// Converts setting values by the rules of Puppet's setting kinds. Each function returns nullopt if
// Puppet refuses the text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bunraku::config {

/// Converts "30m" to "1800"; the units are s, m, h, d and y.
std::optional<std::string> duration_seconds(std::string_view text);
/// Reads an integer like Ruby's Integer(): "0x10" and "020" are "16".
std::optional<std::string> ruby_integer(std::string_view text);
/// Converts the setting `priority`: a number, or "high", "normal", "low", "idle".
std::optional<std::string> priority_number(std::string_view text);

}  // namespace bunraku::config
