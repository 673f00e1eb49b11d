// SPDX-License-Identifier: Apache-2.0
// Versions of Ruby gems and Python packages.
#include "core/base/assert.h"
#include "core/base/number.h"
#include "core/regex/regex.h"
#include "resources/apply/types/package/versions.h"

namespace bunraku::apply {
namespace {

template <class T>
int order(const T& a, const T& b) {
    return a < b ? -1 : b < a ? 1 : 0;
}

bool digits(std::string_view s) {
    return !s.empty() && s.find_first_not_of("0123456789") == std::string_view::npos;
}
// A number that is out of range counts as the largest.
std::uint64_t number(std::string_view s) {
    return base::parse_integer<std::uint64_t>(s).value_or(~std::uint64_t{0});
}

}  // namespace

std::optional<GemVersion> GemVersion::parse(std::string_view text) {
    const auto form = regex::Regex::cached(
        R"(\A\s*([0-9]+(?>\.[0-9a-zA-Z]+)*(-[0-9A-Za-z-]+(\.[0-9A-Za-z-]+)*)?)?\s*\z)");
    if (!form || !(*form)->matches(text)) return std::nullopt;
    GemVersion v;
    // "1.0-x" means "1.0.pre.x". Adjacent letters and digits are separate segments.
    std::string plain;
    for (char c : base::trim(text)) plain += c == '-' ? std::string(".pre.") : std::string(1, c);
    for (std::string_view word : base::words(plain, ".")) {
        while (!word.empty()) {
            const bool of_digits = word.front() >= '0' && word.front() <= '9';
            std::size_t n = 0;
            while (n < word.size() && (word[n] >= '0' && word[n] <= '9') == of_digits) ++n;
            BUNRAKU_ASSERT(n > 0 && n <= word.size());
            if (of_digits)
                v.segments.emplace_back(number(word.substr(0, n)));
            else
                v.segments.emplace_back(std::string(word.substr(0, n)));
            word.remove_prefix(n);
        }
    }
    if (v.segments.empty()) v.segments.emplace_back(std::uint64_t{0});
    return v;
}

int GemVersion::compare(const GemVersion& other) const {
    const std::variant<std::uint64_t, std::string> zero = std::uint64_t{0};
    const std::size_t n = std::max(segments.size(), other.segments.size());
    for (std::size_t i = 0; i < n; ++i) {
        const auto& a = i < segments.size() ? segments[i] : zero;
        const auto& b = i < other.segments.size() ? other.segments[i] : zero;
        if (a == b) continue;
        // A text segment marks a version before the release.
        if (a.index() != b.index()) return a.index() == 1 ? -1 : 1;
        return order(a, b);
    }
    return 0;
}

std::optional<PipVersion> PipVersion::parse(std::string_view text) {
    const auto form = regex::Regex::cached(
        R"(\A\s*v?(?:([0-9]+)!)?([0-9]+(?:\.[0-9]+)*)(?:[-_.]?(a|b|c|rc|alpha|beta|pre|preview)[-_.]?([0-9]+)?)?)"
        R"((?:(?:-([0-9]+))|(?:[-_.]?(post|rev|r)[-_.]?([0-9]+)?))?(?:[-_.]?(dev)[-_.]?([0-9]+)?)?)"
        R"((?:\+([a-z0-9]+(?:[-_.][a-z0-9]+)*))?\s*\z)",
        regex::kIgnoreCase);
    if (!form) return std::nullopt;
    const auto m = (*form)->search(text);
    if (!m) return std::nullopt;
    const auto group = [&](int i) { return m->group(text, i); };
    PipVersion v;
    if (!group(1).empty()) v.epoch = number(group(1));
    for (std::string_view part : base::words(group(2), ".")) v.release.push_back(number(part));
    // Puppet drops every second trailing zero: 1.0 equals 1.0.0, but equals neither 1 nor 1.0.0.0.
    for (std::size_t at = 0; at + 1 < v.release.size(); ++at) {
        const std::size_t here = v.release.size() - 1 - at;
        BUNRAKU_ASSERT(here >= 1);
        if (v.release[here] != 0) break;
        if (v.release[here - 1] == 0)
            v.release.erase(v.release.begin() + static_cast<std::ptrdiff_t>(here));
    }
    if (const std::string name = base::lower(group(3)); !name.empty()) {
        v.pre = {name == "alpha"              ? "a"
                 : name == "beta"             ? "b"
                 : name == "a" || name == "b" ? name
                                              : "rc",
                 group(4).empty() ? 0 : number(group(4))};
    }
    if (!group(5).empty())
        v.post = number(group(5));
    else if (!group(6).empty())
        v.post = group(7).empty() ? 0 : number(group(7));
    if (!group(8).empty()) v.dev = group(9).empty() ? 0 : number(group(9));
    for (std::string_view part : base::words(group(10), "-_.")) {
        if (digits(part))
            v.local.emplace_back(number(part));
        else
            v.local.emplace_back(base::lower(part));
    }
    return v;
}

int PipVersion::compare(const PipVersion& other) const {
    BUNRAKU_ASSERT(!release.empty() && !other.release.empty());
    if (const int c = order(epoch, other.epoch)) return c;
    if (const int c = order(release, other.release)) return c;
    // A version with only "dev" precedes every pre-release. A release follows all of them.
    const auto phase = [](const PipVersion& v) { return v.pre ? 1 : !v.post && v.dev ? 0 : 2; };
    if (const int c = order(phase(*this), phase(other))) return c;
    if (const int c = order(pre, other.pre)) return c;
    if (const int c = order(post, other.post)) return c;  // a version without "post" precedes
    if (dev.has_value() != other.dev.has_value()) return dev ? -1 : 1;
    if (const int c = order(dev, other.dev)) return c;
    for (std::size_t i = 0; i < std::max(local.size(), other.local.size()); ++i) {
        if (i >= local.size() || i >= other.local.size()) return i >= local.size() ? -1 : 1;
        if (local[i] == other.local[i]) continue;
        // A number is newer than a text.
        if (local[i].index() != other.local[i].index()) return local[i].index() == 0 ? 1 : -1;
        return order(local[i], other.local[i]);
    }
    return 0;
}

}  // namespace bunraku::apply
