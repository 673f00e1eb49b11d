// SPDX-License-Identifier: Apache-2.0
#include "compile/insight/folded_names.h"

#include <algorithm>
#include <fmt/format.h>
#include <optional>
#include <string_view>

namespace bunraku::insight {

namespace {

/// The parts of a name: runs of digits, and the text between them.
using Parts = std::vector<std::string>;

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_number(std::string_view part) { return !part.empty() && is_digit(part[0]); }

Parts parts_of(std::string_view name) {
    Parts out;
    for (const char c : name) {
        if (out.empty() || is_digit(c) != is_number(out.back())) out.emplace_back();
        out.back() += c;
    }
    return out;
}

std::string_view significant(std::string_view digits) {
    return digits.substr(std::min(digits.find_first_not_of('0'), digits.size() - 1));
}

/// Orders numbers by value, then by their leading zeros.
bool number_before(std::string_view a, std::string_view b) {
    const auto x = significant(a), y = significant(b);
    if (x.size() != y.size()) return x.size() < y.size();
    return x != y ? x < y : a.size() < b.size();
}

bool natural_before(const Parts& a, const Parts& b) {
    for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) {
        if (a[i] == b[i]) continue;
        if (is_number(a[i]) && is_number(b[i])) return number_before(a[i], b[i]);
        return a[i] < b[i];
    }
    return a.size() < b.size();
}

/// The only part in which two names differ, if it is a number of the same form in both.
std::optional<std::size_t> differing_number(const Parts& a, const Parts& b) {
    if (a.size() != b.size()) return std::nullopt;
    std::optional<std::size_t> found;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i] == b[i]) continue;
        const bool padded = a[i].starts_with('0') || b[i].starts_with('0');
        if (found || !is_number(a[i]) || !is_number(b[i]) || (padded && a[i].size() != b[i].size()))
            return std::nullopt;
        found = i;
    }
    return found;
}

/// Returns the next decimal number, with the same number of digits if possible.
std::string next_number(std::string digits) {
    for (std::size_t i = digits.size(); i-- > 0;) {
        if (digits[i] != '9') {
            ++digits[i];
            return digits;
        }
        digits[i] = '0';
    }
    return "1" + digits;
}

/// Neighbours in natural order that differ in the number at `at`.
struct Fold {
    Parts first;
    std::size_t at = 0;
    std::vector<std::string> numbers;  ///< empty for a single name

    bool take(const Parts& name) {
        const auto where = differing_number(first, name);
        if (!where || (!numbers.empty() && *where != at)) return false;
        at = *where;
        if (numbers.empty()) numbers.push_back(first[at]);
        numbers.push_back(name[at]);
        return true;
    }
    std::size_t names() const { return std::max<std::size_t>(numbers.size(), 1); }
    std::string text() const {
        std::string out;
        for (std::size_t i = 0; i < first.size(); ++i)
            out += !numbers.empty() && i == at ? ranges() : first[i];
        return out;
    }

private:
    std::string ranges() const {
        std::string out = "[";
        for (std::size_t i = 0; i < numbers.size();) {
            std::size_t end = i;
            while (end + 1 < numbers.size() && numbers[end + 1] == next_number(numbers[end])) ++end;
            if (out.size() > 1) out += ',';
            out += numbers[i];
            if (end > i) out += "-" + numbers[end];
            i = end + 1;
        }
        return out + "]";
    }
};

}  // namespace

std::string folded_names(std::vector<std::string> names, std::size_t most) {
    std::vector<Parts> all;
    for (const auto& name : names) all.push_back(parts_of(name));
    std::ranges::sort(all, natural_before);
    std::vector<Fold> folds;
    for (auto& each : all) {
        if (folds.empty() || !folds.back().take(each))
            folds.push_back({.first = std::move(each), .at = 0, .numbers = {}});
    }
    std::string out;
    std::size_t left = names.size();
    for (std::size_t i = 0; i < folds.size() && i < most; ++i) {
        out += (i > 0 ? ", " : "") + folds[i].text();
        left -= folds[i].names();
    }
    if (left > 0) out += fmt::format(" and {} more", left);
    return out;
}

}  // namespace bunraku::insight
