// Which facts the configuration blocks.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/regex/regex.h"

namespace bunraku::facts {

/// Names of facts and of parts of them, and patterns: Facter takes each as a regular expression
/// that fits a whole name, or what stands before a dot (fact_loader.rb of 4.11). One that is none
/// is told, and taken for a name.
class Blocked {
public:
    Blocked() = default;
    Blocked(std::vector<std::string> names, base::LogSink* log);

    bool empty() const { return names_.empty(); }
    const std::vector<std::string>& names() const { return names_; }
    /// The fact, or a part of a fact that is blocked.
    bool has(std::string_view name) const;
    /// A flat fact whose name begins so; with these Facter does not look for the end.
    bool begins(std::string_view name) const;

private:
    struct Pattern {
        std::shared_ptr<const regex::Regex> whole, start;
    };
    std::vector<std::string> names_, plain_;
    std::vector<Pattern> patterns_;
};

}  // namespace bunraku::facts
