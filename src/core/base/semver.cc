// SPDX-License-Identifier: Apache-2.0
#include "core/base/semver.h"

#include <algorithm>
#include <charconv>

#include "core/base/assert.h"

namespace bunraku::base {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_identifier(char c) {
    return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '-';
}
bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r'); }
bool is_number(std::string_view text) {
    return !text.empty() && std::ranges::all_of(text, is_digit);
}

/// Reads "0" or a number without leading zeros.
bool take_number(std::string_view& text, std::uint64_t& out) {
    std::size_t n = 0;
    while (n < text.size() && is_digit(text[n])) ++n;
    if (n == 0) return false;
    if (text[0] == '0') n = 1;
    if (std::from_chars(text.data(), text.data() + n, out).ec != std::errc()) return false;
    BUNRAKU_ASSERT(n > 0 && n <= text.size());
    text.remove_prefix(n);
    return true;
}

bool take(std::string_view& text, char c) {
    if (text.empty() || text[0] != c) return false;
    text.remove_prefix(1);
    return true;
}

/// Reads identifiers separated by dots.
bool take_identifiers(std::string_view& text, std::string& out) {
    std::size_t n = 0, segment = 0;
    while (n < text.size()) {
        if (is_identifier(text[n])) {
            ++segment;
        } else if (text[n] == '.' && segment > 0 && n + 1 < text.size() &&
                   is_identifier(text[n + 1])) {
            segment = 0;
        } else {
            break;
        }
        ++n;
    }
    if (n == 0) return false;
    out = text.substr(0, n);
    text.remove_prefix(n);
    return true;
}

/// Calls `each` with every identifier, until it returns false.
template <class F>
bool each_identifier(std::string_view text, F each) {
    for (;;) {
        const auto dot = text.find('.');
        if (!each(text.substr(0, dot))) return false;
        if (dot == std::string_view::npos) return true;
        text.remove_prefix(dot + 1);
    }
}

bool leading_zeros(std::string_view prerelease) {
    return !each_identifier(prerelease, [](std::string_view id) {
        return !(is_number(id) && id.size() > 1 && id[0] == '0');
    });
}

std::strong_ordering compare_identifier(std::string_view a, std::string_view b) {
    const bool x = is_number(a), y = is_number(b);
    if (x != y) return x ? std::strong_ordering::less : std::strong_ordering::greater;
    if (x && a.size() != b.size()) return a.size() <=> b.size();
    return a <=> b;
}

std::strong_ordering compare_prerelease(std::string_view a, std::string_view b) {
    if (a.empty() || b.empty())
        return b.size() == a.size() ? std::strong_ordering::equal
               : a.empty()          ? std::strong_ordering::greater
                                    : std::strong_ordering::less;
    for (;;) {
        const auto i = a.find('.'), k = b.find('.');
        const auto order = compare_identifier(a.substr(0, i), b.substr(0, k));
        if (order != 0) return order;
        const bool a_ends = i == std::string_view::npos, b_ends = k == std::string_view::npos;
        if (a_ends || b_ends) return b_ends <=> a_ends;
        a.remove_prefix(i + 1);
        b.remove_prefix(k + 1);
    }
}

using Part = SemVerRange::Part;

/// MAJOR[.MINOR[.PATCH[-PRE][+BUILD]]]. Each number may be x, X or *.
struct Partial {
    std::optional<std::uint64_t> major, minor, patch;
    std::string prerelease, build;

    SemVer lowest() const {
        return {major.value_or(0), minor.value_or(0), patch.value_or(0), prerelease, build};
    }
};

bool take_part(std::string_view& text, std::optional<std::uint64_t>& out) {
    if (take(text, 'x') || take(text, 'X') || take(text, '*')) return true;
    std::uint64_t n = 0;
    if (!take_number(text, n)) return false;
    out = n;
    return true;
}

bool take_partial(std::string_view& text, Partial& out) {
    if (!take_part(text, out.major)) return false;
    if (!take(text, '.')) return true;
    if (!take_part(text, out.minor)) return false;
    if (!take(text, '.')) return true;
    if (!take_part(text, out.patch)) return false;
    if (take(text, '-') && !take_identifiers(text, out.prerelease)) return false;
    if (take(text, '+') && !take_identifiers(text, out.build)) return false;
    return out.prerelease.empty() || !leading_zeros(out.prerelease);
}

Part at_least(SemVer v) { return {.min = std::move(v)}; }
Part all() { return {.all = true}; }
Part nothing() { return {.none = true}; }
Part half_open(SemVer from, SemVer to) {
    return {.min = std::move(from), .max = std::move(to), .exclude_max = true};
}
Part exactly(SemVer v) { return {.min = v, .max = v}; }

Part patch_updates(const Partial& p, bool tilde) {
    if (!p.major) return all();
    if (!p.minor) return half_open({*p.major, 0, 0}, {*p.major + 1, 0, 0});
    if (!p.patch) return half_open({*p.major, *p.minor, 0}, {*p.major, *p.minor + 1, 0});
    if (!tilde) return exactly(p.lowest());
    return half_open(p.lowest(), {*p.major, *p.minor + 1, 0});
}

Part minor_updates(const Partial& p) {
    if (!p.major) return all();
    if (!p.minor) return half_open({*p.major, 0, 0}, {*p.major + 1, 0, 0});
    if (!p.patch) return half_open({*p.major, *p.minor, 0}, {*p.major + 1, 0, 0});
    SemVer from = p.lowest();
    if (from.prerelease.empty()) from.build.clear();
    return half_open(std::move(from), {*p.major + 1, 0, 0});
}

Part greater(const Partial& p) {
    if (!p.major) return nothing();
    if (!p.minor) return at_least({*p.major + 1, 0, 0});
    if (!p.patch) return at_least({*p.major, *p.minor + 1, 0});
    return {.min = p.lowest(), .exclude_min = true};
}

Part at_most(const Partial& p) {
    if (!p.major) return all();
    if (!p.minor) return {.max = SemVer{*p.major + 1, 0, 0}, .exclude_max = true};
    if (!p.patch) return {.max = SemVer{*p.major, *p.minor + 1, 0}, .exclude_max = true};
    return {.max = p.lowest()};
}

/// Compares lower bounds. A missing bound is the lowest.
std::strong_ordering compare_min(const Part& a, const Part& b) {
    if (!a.min || !b.min) return a.min.has_value() <=> b.min.has_value();
    return *a.min <=> *b.min;
}
/// Compares upper bounds. A missing bound is the highest.
std::strong_ordering compare_max(const Part& a, const Part& b) {
    if (!a.max || !b.max) return b.max.has_value() <=> a.max.has_value();
    return *a.max <=> *b.max;
}

/// Returns nullopt if the intersection is empty.
std::optional<Part> intersect(const Part& a, const Part& b) {
    if (a.all) return b;
    if (b.all) return a;
    if (a.none || b.none) return std::nullopt;
    Part out;
    const auto low = compare_min(a, b);
    const Part& min = low < 0 ? b : low > 0 ? a : a.exclude_min ? a : b;
    const auto high = compare_max(a, b);
    const Part& max = high > 0 ? b : high < 0 ? a : a.exclude_max ? a : b;
    out.min = min.min;
    out.exclude_min = min.exclude_min;
    out.max = max.max;
    out.exclude_max = max.exclude_max;
    if (out.min && out.max) {
        const auto order = *out.min <=> *out.max;
        if (order > 0) return std::nullopt;
        if (order == 0 && (out.exclude_min || out.exclude_max)) return std::nullopt;
    }
    return out;
}

bool within(const Part& p, const SemVer& v) {
    if (p.none) return false;
    if (p.min) {
        const auto order = v <=> *p.min;
        if (order < 0 || (order == 0 && p.exclude_min)) return false;
    }
    if (p.max) {
        const auto order = v <=> *p.max;
        if (order > 0 || (order == 0 && p.exclude_max)) return false;
    }
    return true;
}

/// Reports whether `p` accepts the pre-release `v`: a bound must be a pre-release of the same
/// version.
bool accepts_prerelease(const Part& p, const SemVer& v) {
    if (p.all) return true;
    const auto names = [&v](const std::optional<SemVer>& bound) {
        return bound && !bound->prerelease.empty() && bound->major == v.major &&
               bound->minor == v.minor && bound->patch == v.patch;
    };
    return names(p.min) || names(p.max);
}

/// Reports whether `p` contains the lower bound of `other`. A missing bound is the lowest version.
bool contains_start(const Part& p, const Part& other) {
    return other.min ? within(p, *other.min) : !p.min;
}

std::optional<Part> unite(const Part& a, const Part& b) {
    if (a.all || b.all) return all();
    if (a.none || b.none) return std::nullopt;
    const auto follows = [](const Part& first, const Part& second) {
        if (!first.max || !second.min || second.exclude_min) return false;
        if (first.exclude_max) return *first.max == *second.min;
        return SemVer{first.max->major, first.max->minor, first.max->patch + 1} == *second.min;
    };
    if (!contains_start(a, b) && !contains_start(b, a) && !follows(a, b) && !follows(b, a)) {
        return std::nullopt;
    }
    Part out;
    const auto low = compare_min(a, b);
    out.min = low <= 0 ? a.min : b.min;
    out.exclude_min = low < 0   ? a.exclude_min
                      : low > 0 ? b.exclude_min
                                : a.exclude_min && b.exclude_min;
    const auto high = compare_max(a, b);
    out.max = high >= 0 ? a.max : b.max;
    out.exclude_max = high > 0   ? a.exclude_max
                      : high < 0 ? b.exclude_max
                                 : a.exclude_max && b.exclude_max;
    return out;
}

/// Joins parts that overlap or are adjacent, in semantic_puppet's order.
void merge_parts(std::vector<Part>& parts) {
    for (bool merged = true; parts.size() > 1 && merged;) {
        merged = false;
        std::vector<Part> result;
        const std::size_t had = parts.size();
        while (!parts.empty()) {
            Part x = parts.back();
            parts.pop_back();
            std::vector<Part> rest;
            for (const Part& y : parts) {
                if (auto both = unite(x, y)) {
                    x = *std::move(both);
                    merged = true;
                } else {
                    rest.push_back(y);
                }
            }
            result.push_back(std::move(x));
            parts = std::move(rest);
        }
        BUNRAKU_ASSERT(merged ? result.size() < had : result.size() == had);
        std::ranges::reverse(result);
        parts = std::move(result);
    }
    if (parts.empty()) parts.push_back(nothing());
    BUNRAKU_ASSERT(!parts.empty());
}

std::optional<Part> parse_simple(std::string_view text) {
    enum { None, Tilde, Caret, Greater, AtLeast, Less, AtMost } op = None;
    if (text.starts_with("~>") || text.starts_with("~=")) {
        op = Tilde;
        text.remove_prefix(2);
    } else if (text.starts_with(">=")) {
        op = AtLeast;
        text.remove_prefix(2);
    } else if (text.starts_with("<=")) {
        op = AtMost;
        text.remove_prefix(2);
    } else if (take(text, '~')) {
        op = Tilde;
    } else if (take(text, '^')) {
        op = Caret;
    } else if (take(text, '>')) {
        op = Greater;
    } else if (take(text, '<')) {
        op = Less;
    } else {
        take(text, '=');
    }
    Partial p;
    if (!take_partial(text, p) || !text.empty()) return std::nullopt;
    switch (op) {
        case Tilde: return patch_updates(p, true);
        case Caret: return p.major == std::uint64_t{0} ? patch_updates(p, true) : minor_updates(p);
        case Greater: return greater(p);
        case AtLeast: return at_least(p.lowest());
        case Less: return Part{.max = p.lowest(), .exclude_max = true};
        case AtMost: return at_most(p);
        case None: break;
    }
    return patch_updates(p, false);
}

/// Parses "1.0.0 - 2.0.0". Returns nullopt if the text does not have this form.
std::optional<std::optional<Part>> parse_hyphen(std::string_view text) {
    Partial from, to;
    const auto blanks = [&text] {
        std::size_t n = 0;
        while (n < text.size() && is_blank(text[n])) ++n;
        text.remove_prefix(n);
        return n > 0;
    };
    if (!take_partial(text, from) || !blanks() || !take(text, '-') || !blanks() ||
        !take_partial(text, to) || !text.empty()) {
        return std::nullopt;
    }
    return intersect(at_least(from.lowest()), Part{.max = to.lowest()});
}

/// Parses one alternative. Returns false if it cannot be parsed. `out` stays empty if the
/// alternative matches nothing.
bool parse_alternative(std::string_view text, std::optional<Part>& out) {
    if (auto hyphen = parse_hyphen(text)) {
        out = *std::move(hyphen);
        return true;
    }
    if (text.empty()) return true;
    if (is_blank(text[0])) return false;
    bool first = true;
    while (!text.empty()) {
        std::size_t n = 0;
        while (n < text.size() && !is_blank(text[n])) ++n;
        const auto simple = parse_simple(text.substr(0, n));
        if (!simple) return false;
        if (first) {
            out = simple;
        } else if (out) {
            out = intersect(*out, *simple);
        }
        first = false;
        while (n < text.size() && is_blank(text[n])) ++n;
        text.remove_prefix(n);
    }
    return true;
}

/// Removes blanks and a "v" after operators.
std::string tidy(std::string_view text) {
    std::string out;
    for (std::size_t i = 0; i < text.size();) {
        const char c = text[i++];
        out += c;
        if (std::string_view("><=~^").find(c) == std::string_view::npos) continue;
        std::size_t k = i;
        while (k < text.size() && is_blank(text[k])) ++k;
        if (k > i) {
            i = k;
        } else if (k < text.size() && text[k] == 'v') {
            i = k + 1;
        }
    }
    return out;
}

}  // namespace

std::optional<SemVer> SemVer::parse(std::string_view text) {
    SemVer v;
    if (text.ends_with('\n')) text.remove_suffix(1);
    if (!take_number(text, v.major) || !take(text, '.') || !take_number(text, v.minor) ||
        !take(text, '.') || !take_number(text, v.patch)) {
        return std::nullopt;
    }
    if (take(text, '-')) {
        if (!take_identifiers(text, v.prerelease) || leading_zeros(v.prerelease)) {
            return std::nullopt;
        }
    }
    if (take(text, '+') && !take_identifiers(text, v.build)) return std::nullopt;
    if (!text.empty()) return std::nullopt;
    return v;
}

std::string SemVer::to_string() const {
    std::string out =
        std::to_string(major) + '.' + std::to_string(minor) + '.' + std::to_string(patch);
    if (!prerelease.empty()) out += '-' + prerelease;
    if (!build.empty()) out += '+' + build;
    return out;
}

std::strong_ordering SemVer::operator<=>(const SemVer& other) const {
    if (const auto order = major <=> other.major; order != 0) return order;
    if (const auto order = minor <=> other.minor; order != 0) return order;
    if (const auto order = patch <=> other.patch; order != 0) return order;
    return compare_prerelease(prerelease, other.prerelease);
}

bool SemVerRange::Part::operator==(const Part& other) const {
    return min == other.min && max == other.max && exclude_min == other.exclude_min &&
           exclude_max == other.exclude_max && all == other.all && none == other.none;
}

std::optional<SemVerRange> SemVerRange::parse(std::string_view text) {
    SemVerRange range;
    range.text = text;
    const std::string tidied = tidy(text);
    std::vector<std::string_view> alternatives;
    for (std::string_view rest = tidied;;) {
        const auto at = rest.find("||");
        std::string_view one = rest.substr(0, at);
        if (at != std::string_view::npos) {
            while (!one.empty() && is_blank(one.back())) one.remove_suffix(1);
        }
        alternatives.push_back(one);
        if (at == std::string_view::npos) break;
        rest.remove_prefix(at + 2);
        while (!rest.empty() && is_blank(rest[0])) rest.remove_prefix(1);
    }
    while (!alternatives.empty() && alternatives.back().empty()) alternatives.pop_back();
    if (alternatives.empty()) {
        range.parts.push_back(Part{.all = true});
        range.text = "*";
        return range;
    }
    for (const std::string_view one : alternatives) {
        std::optional<Part> part;
        if (!parse_alternative(one, part)) return std::nullopt;
        if (part && std::ranges::find(range.parts, *part) == range.parts.end()) {
            range.parts.push_back(*std::move(part));
        }
    }
    BUNRAKU_ASSERT(range.parts.size() <= alternatives.size());
    merge_parts(range.parts);
    return range;
}

SemVerRange SemVerRange::between(std::optional<SemVer> min, std::optional<SemVer> max,
                                 bool exclude_max) {
    // semantic_puppet writes the bounds in reverse order.
    const std::string low = min ? min->to_string() : "0.0.0-";
    const std::string high = max ? max->to_string() : "Infinity.0.0";
    SemVerRange range;
    range.text = exclude_max ? ">=" + high + " <" + low : high + " - " + low;
    Part upper{.max = std::move(max), .exclude_max = exclude_max};
    if (auto part = intersect(Part{.min = std::move(min)}, upper)) range.parts.push_back(*part);
    merge_parts(range.parts);
    return range;
}

bool SemVerRange::includes(const SemVer& version) const {
    return std::ranges::any_of(parts, [&version](const Part& p) {
        return within(p, version) && (version.prerelease.empty() || accepts_prerelease(p, version));
    });
}

std::string SemVerRange::to_string() const { return text.empty() ? normalized() : text; }

std::string SemVerRange::normalized() const {
    std::string out;
    for (const Part& p : parts) {
        if (&p != parts.data()) out += " || ";
        if (p.all) {
            out += '*';
        } else if (p.none) {
            out += "<0.0.0";
        } else if (p.min && p.max && !p.exclude_min && !p.exclude_max && *p.min == *p.max) {
            out += p.min->to_string();
        } else {
            if (p.min) out += (p.exclude_min ? ">" : ">=") + p.min->to_string();
            if (p.min && p.max) out += ' ';
            if (p.max) out += (p.exclude_max ? "<" : "<=") + p.max->to_string();
            if (!p.min && !p.max) out += ">=0.0.0-";
        }
    }
    return out;
}

const SemVerRange::Part* SemVerRange::single() const {
    return parts.size() == 1 ? &parts[0] : nullptr;
}

bool SemVerRange::operator==(const SemVerRange& other) const { return parts == other.parts; }

}  // namespace bunraku::base
