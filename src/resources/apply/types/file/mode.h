// SPDX-License-Identifier: Apache-2.0
// File modes in Puppet's notation: octal, or symbolic clauses.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bunraku::apply {

bool valid_mode(std::string_view text);
bool octal_mode(std::string_view text);
/// Returns an octal mode without leading zeros, or symbolic text unchanged.
std::string normalized_mode(std::string_view text);
/// Returns four octal digits.
std::string octal_text(std::uint32_t mode);
/// Returns an octal mode with four digits, or symbolic text unchanged.
std::string shown_mode(std::string_view text);
/// Applies a mode to the current one. Throws base::PuppetError with Puppet's text if it is invalid.
std::uint32_t apply_mode(std::string_view change, std::uint32_t current, bool directory);

}  // namespace bunraku::apply
