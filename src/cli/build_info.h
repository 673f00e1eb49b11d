// Which build of which commit this is, and the libraries it runs with.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bunraku::cli {

struct BuildInfo {
    std::string_view commit;             ///< "a1b2c3d4e5f6", "+" behind it where files were changed
    std::string_view date;               ///< of the commit: "2026-11-25"
    std::string_view type;               ///< "Release"
    std::string_view compiler;           ///< "GNU 12.2.0"
    std::vector<std::string> libraries;  ///< "OpenSSL 3.0.17", those in use now
};
const BuildInfo& build_info();

/// What the build found out (generated).
struct BuildFacts {
    std::string_view commit, date, type, compiler;
};
BuildFacts build_facts();

}  // namespace bunraku::cli
