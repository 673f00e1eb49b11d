// SPDX-License-Identifier: Apache-2.0
// The facts that the configuration blocks.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/regex/regex.h"

namespace bunraku::facts {

/// Blocked names of facts, names of parts of facts, and patterns. Facter treats each entry as a
/// regular expression that must match a whole name or the text before a dot (fact_loader.rb of
/// 4.11). An invalid regular expression is logged and used as a plain name.
class Blocked {
public:
    Blocked() = default;
    Blocked(std::vector<std::string> names, base::LogSink* log);

    bool empty() const { return names_.empty(); }
    const std::vector<std::string>& names() const { return names_; }
    /// Reports whether the fact is blocked, or is a part of a blocked fact.
    bool has(std::string_view name) const;
    /// Reports whether a blocked entry matches the start of the name of a flat fact. For flat
    /// facts, Facter does not require a match up to the end.
    bool begins(std::string_view name) const;

private:
    struct Pattern {
        std::shared_ptr<const regex::Regex> whole, start;
    };
    std::vector<std::string> names_, plain_;
    std::vector<Pattern> patterns_;
};

}  // namespace bunraku::facts
