// The code of a simulated site, and what a catalog made of it says of its own making: each
// resource names where it comes from, so that the oracle knows the answer without a compiler.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bunraku::sim {

/// What a catalog of the site's code says.
struct Statement {
    std::set<int> code;                 ///< versions of the files that had a say
    std::string node;                   ///< whose it is
    int changes = -1;                   ///< of the facts
    std::map<std::string, int> others;  ///< what it collected: node and changes
};

/// Out of its JSON, or of anything that has `"title":"..."` in it.
Statement read_catalog(std::string_view json);

/// The files of a version of the code, in the order in which a deploy writes them. Nodes with a
/// fact `root` get files below it, all others notices.
std::vector<std::pair<std::string, std::string>> files_of(int version);

/// What stands in a file whose content says which version of the code it is of.
std::string stamped(int version, std::string_view what);
/// The version; nullopt: it is not whole.
std::optional<int> stamp_of(std::string_view content, std::string_view what);

}  // namespace bunraku::sim
