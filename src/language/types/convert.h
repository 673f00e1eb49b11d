// String.new's formats ("%#x", {Array => {format => '%(a', separator => ', '}}), which functions
// use too.
#pragma once

#include <string>
#include <string_view>

#include "language/types/type.h"

namespace bunraku::types {

/// The text that the default formats give: what String($v) is, and how values read inside of
/// others.
std::string convert_to_string(Context& ctx, const Value& v);
/// With one format for the value itself, "%p"; throws PuppetError for illegal ones.
std::string convert_to_string(Context& ctx, const Value& v, std::string_view format);

/// One Ruby format directive on an integer, a float, a string ("%+05d"); the conversion letter is
/// the last one. Throws PuppetError with Ruby's text where it is malformed.
std::string format_directive(std::string_view format, const Value& v);

}  // namespace bunraku::types
