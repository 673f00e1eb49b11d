// SPDX-License-Identifier: Apache-2.0
// Random manifests in odd layouts: comments and line breaks in every possible position.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace bunraku::format {

struct OddManifest {
    std::string text;
    std::vector<std::string> comments;  ///< in the order of the text
};

/// Returns a random manifest. Equal seeds give equal manifests. Some are not valid, because blanks
/// have a meaning in front of some brackets.
OddManifest odd_manifest(std::uint64_t seed);

}  // namespace bunraku::format
