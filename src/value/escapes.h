// Texts in quotes, as Ruby writes them. (Puppet's own quotes are value::quote.)
#pragma once

#include <string>
#include <string_view>

namespace bunraku::value {

/// String#inspect of Unicode text: control characters are "\u0001", and what is beyond ASCII stays
/// as it is. (print_inspect of value/text.h has "\x01" there, and for bytes that are no UTF-8.)
void print_inspected_text(std::string& out, std::string_view text);

/// As the generator of Ruby's json library writes a String: control characters are "\u001f", and
/// everything from U+007F on stays as it is.
void print_json_text(std::string& out, std::string_view text);

}  // namespace bunraku::value
