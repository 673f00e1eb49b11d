// Versions of Debian packages, and the ranges of them that `ensure` may hold.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bunraku::apply {

struct DebianVersion {
    unsigned long epoch = 0;
    std::string upstream, revision;
    static std::optional<DebianVersion> parse(std::string_view text);
    /// As dpkg compares: negative, 0, positive.
    int compare(const DebianVersion& other) const;
};

/// ">=1.0 <2.0", ">1", "1.2-3".
struct DebianVersionRange {
    struct Part {
        char kind;  ///< '=', '<', '>', 'l' (<=), 'g' (>=)
        DebianVersion version;
    };
    std::vector<Part> parts;
    static std::optional<DebianVersionRange> parse(std::string_view text);
    bool exact() const { return parts.size() == 1 && parts[0].kind == '='; }
    bool includes(const DebianVersion& v) const;
};

}  // namespace bunraku::apply
