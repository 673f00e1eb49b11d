// SPDX-License-Identifier: Apache-2.0
// Regular expressions in Ruby's syntax (Oniguruma, hidden from this header).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "core/base/text_view.h"

namespace bunraku::regex {

/// Ruby's Regexp options.
enum Option : std::uint32_t { kNone = 0, kIgnoreCase = 1, kExtended = 2, kMultiline = 4 };

/// The byte ranges of the groups that matched. A group that did not participate is nullopt. Group 0
/// is the whole match.
struct Match {
    std::vector<std::optional<std::pair<std::size_t, std::size_t>>> groups;
    std::string_view group(base::TextView subject BUNRAKU_LIFETIMEBOUND, std::size_t i) const {
        if (i >= groups.size() || !groups[i]) return {};
        return subject.substr(groups[i]->first, groups[i]->second - groups[i]->first);
    }
    bool took_part(std::size_t i) const { return i < groups.size() && groups[i].has_value(); }
};

/// A compiled expression. It is immutable and may be used from several threads.
class Regex {
public:
    ~Regex();
    /// Compiles a pattern. The error has Ruby's text ("premature end of char-class: /[/").
    static base::Result<std::shared_ptr<const Regex>> compile(std::string_view pattern,
                                                              std::uint32_t options = 0);
    /// Does the same through a process-wide, thread-safe cache of limited size.
    static base::Result<std::shared_ptr<const Regex>> cached(std::string_view pattern,
                                                             std::uint32_t options = 0);

    /// Returns the first match at or after byte `start`. A search that exceeds the retry limit
    /// counts as no match.
    std::optional<Match> search(std::string_view subject, std::size_t start = 0) const;
    bool matches(std::string_view subject) const;
    /// Number of capture groups, without group 0.
    std::size_t group_count() const;
    /// Group names with their numbers, in the order of the pattern.
    const std::vector<std::pair<std::string, int>>& names() const;

    const std::string& pattern() const;
    std::uint32_t options() const;

private:
    struct Impl;
    explicit Regex(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace bunraku::regex
