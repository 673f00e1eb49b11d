// SPDX-License-Identifier: Apache-2.0
#include "language/lint/control_comments.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "core/base/text.h"
#include "language/lint/characters.h"

namespace bunraku::lint {

using T = TokenType;

namespace {

bool is_control(std::string_view text) {
    constexpr std::string_view kIgnore = "lint:ignore:";
    return text.starts_with("lint:endignore") ||
           (text.starts_with(kIgnore) && is_word(char_at(text, kIgnore.size())));
}

}  // namespace

ControlComments::ControlComments(const TokenStream& stream) {
    std::vector<std::vector<Open>> open;
    for (const Token* token : stream.tokens()) {
        if (token->is(T::Comment, T::MultilineComment, T::SlashComment) &&
            is_control(base::trim(token->value)))
            read(*token, open);
    }
    for (auto& [check, lines] : ignored_) make_disjoint(lines);
    for (const auto& group : open) {
        warnings_.push_back(
            fmt::format("lint:ignore:{} comment on line {} with no closing lint:endignore comment",
                        group.front().check, group.front().line));
    }
}

void ControlComments::read(const Token& token, std::vector<std::vector<Open>>& open) {
    const auto words = base::words(token.value, base::kBlanks);
    std::size_t controls = 0;
    while (controls < words.size() && (words[controls].starts_with("lint:ignore") ||
                                       words[controls].starts_with("lint:endignore")))
        ++controls;
    std::string text;
    for (std::size_t i = controls; i < words.size(); ++i)
        text += (text.empty() ? "" : " ") + std::string(words[i]);
    const auto reason = std::make_shared<const std::string>(std::move(text));

    std::vector<Open> opened;
    for (std::size_t i = 0; i < controls; ++i) {
        const auto parts = base::split(words[i], ':');
        if (parts[1] != "ignore") {
            close(token.line, open);
        } else if (parts.size() < 3) {
            continue;
        } else if (token.previous && !token.previous->is(T::Newline, T::Indent)) {
            // At the end of a line of code, the comment applies to that line only.
            ignored_[std::string(parts[2])].push_back({token.line, token.line, reason});
        } else {
            opened.push_back({token.line, reason, std::string(parts[2])});
        }
    }
    if (!opened.empty()) open.push_back(std::move(opened));
}

void ControlComments::close(int line, std::vector<std::vector<Open>>& open) {
    if (open.empty()) {
        warnings_.push_back(fmt::format(
            "lint:endignore comment with no opening lint:ignore:<check> comment found on line {}",
            line));
        return;
    }
    for (const Open& start : open.back())
        ignored_[start.check].push_back({start.line, line, start.reason});
    open.pop_back();
}

const std::string* ControlComments::reason(std::string_view check, int line) const {
    const auto found = ignored_.find(check);
    if (found == ignored_.end()) return nullptr;
    const auto lines = std::ranges::lower_bound(found->second, line, {}, &Lines::last);
    return lines != found->second.end() && lines->first <= line ? lines->reason.get() : nullptr;
}

/// Orders the entries and cuts them where they overlap. A later entry takes precedence.
void ControlComments::make_disjoint(std::vector<Lines>& all) {
    // Walks over the lines at which an entry begins or ends. `active` has the current entries.
    std::map<int, std::vector<std::size_t>> begins, ends;
    for (std::size_t i = 0; i < all.size(); ++i) {
        begins[all[i].first].push_back(i);
        begins[all[i].last + 1];
        ends[all[i].last + 1].push_back(i);
    }
    std::vector<Lines> out;
    std::set<std::size_t> active;
    int since = 0;
    for (const auto& [line, beginning] : begins) {
        if (!active.empty()) out.push_back({since, line - 1, all[*active.rbegin()].reason});
        since = line;
        if (const auto ending = ends.find(line); ending != ends.end())
            for (const std::size_t entry : ending->second) active.erase(entry);
        active.insert(beginning.begin(), beginning.end());
    }
    all = std::move(out);
}

}  // namespace bunraku::lint
