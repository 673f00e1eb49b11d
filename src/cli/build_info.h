// SPDX-License-Identifier: Apache-2.0
// Information about the build: the commit, the compiler and the libraries in use.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bunraku::cli {

struct BuildInfo {
    std::string_view commit;             ///< "a1b2c3d4e5f6", followed by "+" if files were modified
    std::string_view date;               ///< date of the commit: "2026-11-25"
    std::string_view type;               ///< "Release"
    std::string_view compiler;           ///< "GNU 12.2.0"
    std::vector<std::string> libraries;  ///< "OpenSSL 3.0.17"; the versions loaded at run time
};
const BuildInfo& build_info();

/// Facts recorded by the build (generated).
struct BuildFacts {
    std::string_view commit, date, type, compiler;
    std::string_view options;  ///< "hardened, unity"
    std::string_view target;   ///< "x86_64-linux-gnu"
};
BuildFacts build_facts();

}  // namespace bunraku::cli
