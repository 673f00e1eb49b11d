// Text that stands for itself in an expression.
#pragma once

#include <string>
#include <string_view>

namespace bunraku::regex {

/// Ruby's Regexp.escape.
std::string escape(std::string_view text);

}  // namespace bunraku::regex
