// SPDX-License-Identifier: Apache-2.0
// Parses the list syntaxes of Puppet's settings.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bunraku::config {

/// Returns the non-empty parts of "/a:/b" as written.
std::vector<std::string> split_path(std::string_view text);

/// Returns the non-empty parts of "a, b", without the blanks around them.
std::vector<std::string> split_list(std::string_view text);

}  // namespace bunraku::config
