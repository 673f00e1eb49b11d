// File modes as Puppet takes them: octal, or symbolic clauses.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace bunraku::apply {

bool valid_mode(std::string_view text);
bool octal_mode(std::string_view text);
/// Octal without leading zeros; symbolic text as it is.
std::string normalized_mode(std::string_view text);
/// Four octal digits.
std::string octal_text(std::uint32_t mode);
/// Octal with four digits; symbolic text as it is.
std::string shown_mode(std::string_view text);
/// Throws base::PuppetError with Puppet's text.
std::uint32_t apply_mode(std::string_view change, std::uint32_t current, bool directory);

}  // namespace bunraku::apply
