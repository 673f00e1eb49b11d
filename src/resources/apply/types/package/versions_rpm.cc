// SPDX-License-Identifier: Apache-2.0
#include "core/base/assert.h"
#include "core/base/number.h"
#include "resources/apply/types/package/versions.h"

namespace bunraku::apply {
namespace {

bool digit(char c) { return c >= '0' && c <= '9'; }
bool letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }
bool separator(char c) { return !digit(c) && !letter(c) && c != '~'; }

void drop_separators(std::string_view& s) {
    while (!s.empty() && separator(s.front())) s.remove_prefix(1);
}
std::string_view take(std::string_view& s, bool (*of)(char)) {
    std::size_t n = 0;
    while (n < s.size() && of(s[n])) ++n;
    const std::string_view taken = s.substr(0, n);
    s.remove_prefix(n);
    return taken;
}

// rpmvercmp: compares alternating runs of digits and letters; a tilde sorts before everything.
int compare_segments(std::string_view a, std::string_view b) {
    if (a == b) return 0;
    while (!a.empty() || !b.empty()) {
        drop_separators(a);
        drop_separators(b);
        const bool tilde_a = a.starts_with('~'), tilde_b = b.starts_with('~');
        if (tilde_a != tilde_b) return tilde_a ? -1 : 1;
        if (tilde_a) {
            a.remove_prefix(1);
            b.remove_prefix(1);
            continue;
        }
        if (a.empty() || b.empty()) break;
        BUNRAKU_ASSERT(!separator(a.front()) && !separator(b.front()));
        const bool number = digit(a.front());
        std::string_view x = take(a, number ? digit : letter), y = take(b, number ? digit : letter);
        if (y.empty()) return number ? 1 : -1;
        if (number) {
            while (x.starts_with('0')) x.remove_prefix(1);
            while (y.starts_with('0')) y.remove_prefix(1);
            if (x.size() != y.size()) return x.size() > y.size() ? 1 : -1;
        }
        if (const int c = x.compare(y)) return c;
    }
    if (a.size() == b.size()) return 0;
    return a.size() > b.size() ? 1 : -1;
}

int compare_parts(const std::optional<std::string>& a, const std::optional<std::string>& b) {
    if (!a || !b) return static_cast<int>(a.has_value()) - static_cast<int>(b.has_value());
    return compare_segments(*a, *b);
}

constexpr std::string_view kArchitectures[] = {
    "noarch", "i386",    "i686",     "ppc",       "ppc64",  "armv3l", "armv4b",
    "armv4l", "armv4tl", "armv5tel", "armv5tejl", "armv6l", "armv7l", "m68kmint",
    "s390",   "s390x",   "ia64",     "x86_64",    "sh3",    "sh4"};

}  // namespace

std::optional<std::string_view> rpm_architecture(std::string_view text) {
    for (std::string_view a : kArchitectures) {
        const std::size_t at = text.find(a);
        if (at != std::string_view::npos && at > 0 && text[at - 1] == '.')
            return text.substr(at, a.size());
    }
    return std::nullopt;
}

std::optional<RpmVersion> RpmVersion::parse(std::string_view text) {
    RpmVersion v;
    if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
        // Text before the colon that is not a number is ignored.
        if (const auto n = base::parse_integer<std::uint64_t>(text.substr(0, colon)))
            v.epoch = std::to_string(*n);
        text.remove_prefix(colon + 1);
    }
    const std::size_t dash = text.find('-');
    v.version = text.substr(0, dash);
    if (dash == std::string_view::npos) return v;
    std::string release(text.substr(dash + 1));
    while (const auto a = rpm_architecture(release)) {
        const auto at = static_cast<std::size_t>(a->data() - release.data());
        BUNRAKU_ASSERT(at > 0 && at + a->size() <= release.size() && release[at - 1] == '.');
        release.erase(at - 1, a->size() + 1);
    }
    v.release = std::move(release);
    return v;
}

int RpmVersion::compare_wanted(const RpmVersion& is) const {
    if (epoch) {
        if (const int c = compare_parts(epoch, is.epoch)) return c;
    }
    if (const int c = compare_segments(version, is.version)) return c;
    return release ? compare_parts(release, is.release) : 0;
}

int RpmVersion::compare(const RpmVersion& other) const {
    if (const int c = compare_segments(epoch.value_or("0"), other.epoch.value_or("0"))) return c;
    // An explicit epoch of 0 is newer than no epoch, so Puppet's order is not consistent.
    return compare_wanted(other);
}

}  // namespace bunraku::apply
