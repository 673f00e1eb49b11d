// SPDX-License-Identifier: Apache-2.0
// Versions in the order of each package manager, and the version ranges that `ensure` may contain.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "core/base/text.h"

namespace bunraku::apply {

/// A version such as "1:2.3-4", in the order of dpkg.
struct DebianVersion {
    unsigned long epoch = 0;
    std::string upstream, revision;
    static std::optional<DebianVersion> parse(std::string_view text);
    /// Returns a negative number, 0 or a positive number. The same applies to all types below.
    int compare(const DebianVersion& other) const;
};

/// A version such as "1:2.3-4.el9.x86_64", in the order of rpm. A version without a part is older
/// than one with it. `compare_wanted` ignores parts that the wanted version does not have.
struct RpmVersion {
    std::optional<std::string> epoch;
    std::string version;
    std::optional<std::string> release;
    /// Never fails, because rpm accepts any text as a version.
    static std::optional<RpmVersion> parse(std::string_view text);
    int compare(const RpmVersion& other) const;
    int compare_wanted(const RpmVersion& is) const;
};
/// Returns the architecture suffix, including its dot, with which the name of an rpm package ends.
/// Returns nullopt if there is none.
std::optional<std::string_view> rpm_architecture(std::string_view text);

/// A version such as "1.2.0.rc1", in the order of RubyGems.
struct GemVersion {
    std::vector<std::variant<std::uint64_t, std::string>> segments;
    static std::optional<GemVersion> parse(std::string_view text);
    int compare(const GemVersion& other) const;
};

/// A version such as "1!2.3rc1.post2.dev3+local", in the order of PEP 440.
struct PipVersion {
    std::uint64_t epoch = 0;
    std::vector<std::uint64_t> release;
    std::optional<std::pair<std::string, std::uint64_t>> pre;  ///< "a", "b" or "rc"
    std::optional<std::uint64_t> post, dev;
    std::vector<std::variant<std::uint64_t, std::string>> local;
    static std::optional<PipVersion> parse(std::string_view text);
    int compare(const PipVersion& other) const;
};

/// A range such as ">=1.0 <2.0", ">1", "1.2-3" (Puppet::Util::Package::Version::Range).
template <class Version>
struct VersionRange {
    struct Part {
        std::string_view operation;  ///< "", "<", ">", "<=", ">="
        Version version;
        bool includes(const Version& v) const {
            const int c = v.compare(version);
            if (operation == "<") return c < 0;
            if (operation == ">") return c > 0;
            if (operation == "<=") return c <= 0;
            if (operation == ">=") return c >= 0;
            return c == 0;
        }
    };
    std::vector<Part> parts;  ///< one condition, or two that must both hold

    static std::optional<VersionRange> parse(std::string_view text) {
        VersionRange range;
        for (std::string_view word : base::words(text, " \t\r\n\f\v")) {
            const std::size_t end = std::min(word.find_first_not_of("<>="), word.size());
            std::string_view operation;
            for (std::string_view known : {"", "<", ">", "<=", ">="}) {
                if (word.substr(0, end) == known) operation = known;
            }
            if (operation.size() != end) return std::nullopt;
            auto version = Version::parse(word.substr(end));
            if (!version) return std::nullopt;
            if (range.parts.size() < 2) range.parts.push_back({operation, std::move(*version)});
        }
        if (range.parts.empty()) return std::nullopt;
        return range;
    }
    bool exact() const { return parts.size() == 1 && parts[0].operation.empty(); }
    bool includes(const Version& v) const {
        return std::all_of(parts.begin(), parts.end(),
                           [&](const Part& p) { return p.includes(v); });
    }
};

/// Returns the newest available version within the range, or nullopt.
template <class Version>
std::optional<std::string> best_of(const VersionRange<Version>& range,
                                   const std::vector<std::string>& on_offer) {
    std::optional<Version> best;
    std::optional<std::string> text;
    for (const std::string& one : on_offer) {
        auto v = Version::parse(one);
        if (!v || !range.includes(*v) || (best && v->compare(*best) <= 0)) continue;
        best = std::move(v);
        text = one;
    }
    return text;
}

}  // namespace bunraku::apply
