// SPDX-License-Identifier: Apache-2.0
// What a bug report needs to know about the program and the machine (`--version --verbose`).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bunraku::cli {

/// One line of the output: what it is about, and the text.
struct VersionDetail {
    std::string_view about;
    std::string text;
};

/// Returns the build options, the allocator, libraries that are loaded on demand, programs that the
/// program runs, formats on disk and the system. Runs `ruby` and `git`, if they are installed.
std::vector<VersionDetail> version_details();

}  // namespace bunraku::cli
