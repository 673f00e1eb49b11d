// Texts in quotes, as Ruby writes them. (Puppet's own quotes are value::quote.)
#pragma once

#include <string>
#include <string_view>

namespace bunraku::value {

/// String#inspect of a UTF-8 String (Ruby 3.1): what is not printable is "\e", "\u0001" or
/// "\u{10FFFF}", bytes that are no UTF-8 are "\xFF", the rest stays as it is.
void print_inspected_text(std::string& out, std::string_view text);

/// String#inspect of a binary String: everything beyond printable ASCII is "\x01".
void print_inspected_bytes(std::string& out, std::string_view bytes);

}  // namespace bunraku::value
