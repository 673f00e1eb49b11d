// Lists of folders as Puppet's settings write them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bunraku::cli {

/// The parts of "/a:/b", as written; empty ones are left out.
std::vector<std::string> split_path(std::string_view text);

}  // namespace bunraku::cli
