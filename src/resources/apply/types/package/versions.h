// Versions as the package managers order them, and the ranges of them that `ensure` may hold.
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

/// "1:2.3-4" as dpkg orders them.
struct DebianVersion {
    unsigned long epoch = 0;
    std::string upstream, revision;
    static std::optional<DebianVersion> parse(std::string_view text);
    /// Negative, 0, positive; so for all of them.
    int compare(const DebianVersion& other) const;
};

/// "1:2.3-4.el9.x86_64" as rpm orders them. Where a part is missing in one of the two it is older;
/// `compare_wanted` looks only as far as what is wanted says.
struct RpmVersion {
    std::optional<std::string> epoch;
    std::string version;
    std::optional<std::string> release;
    /// Everything is a version to rpm.
    static std::optional<RpmVersion> parse(std::string_view text);
    int compare(const RpmVersion& other) const;
    int compare_wanted(const RpmVersion& is) const;
};
/// The architectures that rpm package names may end in, each behind a dot.
std::optional<std::string_view> rpm_architecture(std::string_view text);

/// "1.2.0.rc1" as RubyGems orders them.
struct GemVersion {
    std::vector<std::variant<std::uint64_t, std::string>> segments;
    static std::optional<GemVersion> parse(std::string_view text);
    int compare(const GemVersion& other) const;
};

/// "1!2.3rc1.post2.dev3+local" as PEP 440 orders them.
struct PipVersion {
    std::uint64_t epoch = 0;
    std::vector<std::uint64_t> release;
    std::optional<std::pair<std::string, std::uint64_t>> pre;  ///< "a", "b" or "rc"
    std::optional<std::uint64_t> post, dev;
    std::vector<std::variant<std::uint64_t, std::string>> local;
    static std::optional<PipVersion> parse(std::string_view text);
    int compare(const PipVersion& other) const;
};

/// ">=1.0 <2.0", ">1", "1.2-3" (Puppet::Util::Package::Version::Range).
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
    std::vector<Part> parts;  ///< one, or two that must both hold

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

/// The newest of the versions on offer that the range takes in; nullopt: none does.
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
