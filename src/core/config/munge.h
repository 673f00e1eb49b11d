// What Puppet's kinds of settings make of a text; nothing where they refuse it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace bunraku::config {

/// "30m" is "1800"; units are s, m, h, d and y.
std::optional<std::string> duration_seconds(std::string_view text);
/// As Ruby's Integer() reads it: "0x10" and "020" are "16".
std::optional<std::string> ruby_integer(std::string_view text);
/// Of the setting `priority`: a number, or "high", "normal", "low", "idle".
std::optional<std::string> priority_number(std::string_view text);

}  // namespace bunraku::config
