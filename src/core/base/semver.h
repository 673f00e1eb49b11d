// Semantic versions 2.0.0 and Puppet's version ranges (gem semantic_puppet 1.1), which differ from
// npm's.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bunraku::base {

/// One semantic version.
struct SemVer {
    std::uint64_t major = 0, minor = 0, patch = 0;
    std::string prerelease;  ///< without "-"; empty: none
    std::string build;       ///< without "+"; empty: none

    /// Strict: nullopt where `text` is not MAJOR.MINOR.PATCH[-PRE][+BUILD].
    static std::optional<SemVer> parse(std::string_view text);
    std::string to_string() const;
    /// Precedence as in the specification; build metadata is ignored.
    std::strong_ordering operator<=>(const SemVer& other) const;
    bool operator==(const SemVer& other) const { return (*this <=> other) == 0; }
};

/// A range as SemVerRange writes it: ">=1.0.0 <2.0.0 || 3.x", "~1.2", "^1.0", "1.0.0 - 2.0.0".
struct SemVerRange {
    struct Part {  ///< one interval; a missing bound is open
        std::optional<SemVer> min, max;
        bool exclude_min = false, exclude_max = false;
        bool all = false;   ///< "*": the only one that takes every pre-release
        bool none = false;  ///< matches nothing ("<0.0.0")
        bool operator==(const Part& other) const;
    };
    std::vector<Part> parts;  ///< any of them; never empty
    std::string text;         ///< as written

    static std::optional<SemVerRange> parse(std::string_view text);
    static SemVerRange between(std::optional<SemVer> min, std::optional<SemVer> max,
                               bool exclude_max);
    bool includes(const SemVer& version) const;
    /// semantic_puppet's `to_s`: as written.
    std::string to_string() const;
    /// semantic_puppet's `inspect`: assembled from the parts, ">=1.0.0 <2.0.0".
    std::string normalized() const;
    /// The one interval; null where there are several or none.
    const Part* single() const;
    bool operator==(const SemVerRange& other) const;
};

}  // namespace bunraku::base
