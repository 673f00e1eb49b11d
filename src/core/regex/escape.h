// SPDX-License-Identifier: Apache-2.0
// Escapes text for use in a regular expression.
#pragma once

#include <string>
#include <string_view>

namespace bunraku::regex {

/// Escapes like Ruby's Regexp.escape.
std::string escape(std::string_view text);

}  // namespace bunraku::regex
