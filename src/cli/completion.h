// SPDX-License-Identifier: Apache-2.0
// Candidates for shell completion (`bunraku completion --words`).
#pragma once

#include <string>
#include <vector>

#include "core/config/settings.h"

namespace bunraku::cli {

struct Candidate {
    std::string word, text;  ///< `text` is a description; may be empty
};

struct Candidates {
    std::vector<Candidate> words;  ///< words that begin with the last typed word
    bool files = false;            ///< true if file names are acceptable too
};

/// Returns the candidates for `words`, the words after the program's name. The last word is the one
/// being typed and may be empty. Never throws: on errors, it returns fewer candidates.
Candidates complete(const config::Settings& settings, const std::vector<std::string>& words);

}  // namespace bunraku::cli
