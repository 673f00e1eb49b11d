// SPDX-License-Identifier: Apache-2.0
// Semantic versions 2.0.0, and Puppet's version ranges (gem semantic_puppet 1.1), which differ from
// npm's.
#pragma once

#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bunraku::base {

/// A semantic version.
struct SemVer {
    std::uint64_t major = 0, minor = 0, patch = 0;
    std::string prerelease;  ///< without "-"; may be empty
    std::string build;       ///< without "+"; may be empty

    /// Parses strictly. Returns nullopt if `text` is not MAJOR.MINOR.PATCH[-PRE][+BUILD].
    static std::optional<SemVer> parse(std::string_view text);
    std::string to_string() const;
    /// Compares by the precedence of the specification, which ignores build metadata.
    std::strong_ordering operator<=>(const SemVer& other) const;
    bool operator==(const SemVer& other) const { return (*this <=> other) == 0; }
};

/// A version range in SemVerRange's syntax: ">=1.0.0 <2.0.0 || 3.x", "~1.2", "^1.0", "1.0.0 -
/// 2.0.0".
struct SemVerRange {
    struct Part {  ///< an interval; a missing bound is open
        std::optional<SemVer> min, max;
        bool exclude_min = false, exclude_max = false;
        bool all = false;   ///< "*", the only range that accepts every pre-release
        bool none = false;  ///< matches nothing ("<0.0.0")
        bool operator==(const Part& other) const;
    };
    std::vector<Part> parts;  ///< the alternatives; never empty
    std::string text;         ///< as written

    static std::optional<SemVerRange> parse(std::string_view text);
    static SemVerRange between(std::optional<SemVer> min, std::optional<SemVer> max,
                               bool exclude_max);
    bool includes(const SemVer& version) const;
    /// Returns semantic_puppet's `to_s`: the range as written.
    std::string to_string() const;
    /// Returns semantic_puppet's `inspect`: the range assembled from its parts, ">=1.0.0 <2.0.0".
    std::string normalized() const;
    /// Returns the only interval, or null if there is not exactly one.
    const Part* single() const;
    bool operator==(const SemVerRange& other) const;
};

}  // namespace bunraku::base
