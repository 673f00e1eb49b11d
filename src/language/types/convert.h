// SPDX-License-Identifier: Apache-2.0
// The formats of String.new ("%#x", {Array => {format => '%(a', separator => ', '}}). Functions use
// them too.
#pragma once

#include <string>
#include <string_view>

#include "language/types/type.h"

namespace bunraku::types {

/// Converts with the default formats, as String($v) does. Values inside other values are converted
/// in the same way.
std::string convert_to_string(Context& ctx, const Value& v);
/// Converts with one format for the value itself, such as "%p". Throws PuppetError if the format is
/// not allowed.
std::string convert_to_string(Context& ctx, const Value& v, std::string_view format);

/// Applies one Ruby format directive ("%+05d") to an integer, a float or a string. The conversion
/// letter is the last character. Throws PuppetError with Ruby's text if the directive is malformed.
std::string format_directive(std::string_view format, const Value& v);

}  // namespace bunraku::types
