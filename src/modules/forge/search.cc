// SPDX-License-Identifier: Apache-2.0
#include "modules/forge/search.h"

#include <algorithm>
#include <bit>

#include "core/base/text.h"
#include "core/codec/json_text.h"

namespace bunraku::forge {

std::vector<std::string> search_words(std::string_view text) {
    std::vector<std::string> out;
    const std::string low = base::lower(text);
    for (std::string_view word : base::words(low, " \t")) out.emplace_back(word);
    return out;
}

bool search_matches(const Snapshot& snapshot, const SnapshotModule& module,
                    const std::vector<std::string>& words) {
    const std::string_view hay = snapshot.releases()[module.current].line(Index::Words);
    return std::all_of(words.begin(), words.end(), [&](const std::string& word) {
        return hay.find(word) != std::string_view::npos;
    });
}

int search_rank(const Snapshot& snapshot, const SnapshotModule& module,
                const std::vector<std::string>& words, std::uint64_t downloads) {
    const Release& current = snapshot.releases()[module.current];
    const std::string name = base::lower(module.name), author = base::lower(module.author);
    const std::string tags = base::lower(current.line(Index::Tags));
    int rank = static_cast<int>(std::bit_width(downloads));
    for (std::string word : words) {
        std::replace(word.begin(), word.end(), '/', '-');
        if (word == name || word == base::lower(module.slug)) {
            rank += 1000;
        } else if (name.starts_with(word)) {
            rank += 400;
        } else if (name.find(word) != std::string::npos) {
            rank += 200;
        } else if (tags.find(codec::json_string(word)) != std::string::npos) {
            rank += 100;
        } else if (word == author) {
            rank += 90;
        }
    }
    if (module.deprecated) rank -= 5000;
    return rank;
}

}  // namespace bunraku::forge
