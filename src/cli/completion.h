// What a shell may offer next (`bunraku completion --words`).
#pragma once

#include <string>
#include <vector>

#include "core/config/settings.h"

namespace bunraku::cli {

struct Candidate {
    std::string word, text;  ///< `text` says what it is; may be empty
};

struct Candidates {
    std::vector<Candidate> words;  ///< those that begin as the last word does
    bool files = false;            ///< names of files fit as well
};

/// `words` stand behind the program's name; the last one is what is being typed, maybe empty.
/// Never throws: what cannot be found out is not offered.
Candidates complete(const config::Settings& settings, const std::vector<std::string>& words);

}  // namespace bunraku::cli
