// SPDX-License-Identifier: Apache-2.0
// Quoted texts in Ruby's form. (value::quote writes Puppet's.)
#pragma once

#include <string>
#include <string_view>

namespace bunraku::value {

/// Writes String#inspect of a UTF-8 String (Ruby 3.1). Characters that are not printable become
/// "\e", "\u0001" or "\u{10FFFF}". Bytes that are not UTF-8 become "\xFF". Other characters stay
/// unchanged.
void print_inspected_text(std::string& out, std::string_view text);

/// Writes String#inspect of a binary String: every byte that is not printable ASCII becomes "\x01".
void print_inspected_bytes(std::string& out, std::string_view bytes);

}  // namespace bunraku::value
