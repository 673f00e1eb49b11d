// Lists as Puppet's settings write them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bunraku::config {

/// The parts of "/a:/b", as written; empty ones are left out.
std::vector<std::string> split_path(std::string_view text);

/// The parts of "a, b", without the space around them; empty ones are left out.
std::vector<std::string> split_list(std::string_view text);

}  // namespace bunraku::config
