// SPDX-License-Identifier: Apache-2.0
#include "compile/insight/three_way.h"

#include <vector>

#include "resources/catalog/line_diff.h"

namespace bunraku::insight {

namespace {

using Lines = std::vector<std::string_view>;

/// Returns, for each line of `from`, the index of the same line in `to`, or -1. Returns nullopt if
/// too many lines differ.
std::optional<std::vector<int>> matches(const Lines& from, const Lines& to) {
    constexpr int kMostDifferences = 4'000;
    const auto script = catalog::edit_script(from, to, kMostDifferences);
    if (!script.complete) return std::nullopt;
    std::vector<int> out;
    out.reserve(from.size());
    int line = 0;
    for (const auto step : script.steps) {
        if (step != catalog::Step::Add) out.push_back(step == catalog::Step::Same ? line : -1);
        if (step != catalog::Step::Remove) ++line;
    }
    return out;
}

}  // namespace

std::optional<std::string> merged_text(std::string_view base, std::string_view ours,
                                       std::string_view theirs) {
    const Lines old = catalog::lines_with_ends(base), a = catalog::lines_with_ends(ours),
                b = catalog::lines_with_ends(theirs);
    const auto in_a = matches(old, a), in_b = matches(old, b);
    if (!in_a || !in_b) return std::nullopt;
    std::string out;
    std::size_t i = 0, x = 0, y = 0;
    while (i < old.size() || x < a.size() || y < b.size()) {
        // The next line that all three texts contain.
        std::size_t next = i;
        while (next < old.size() && ((*in_a)[next] < 0 || (*in_b)[next] < 0)) ++next;
        const bool end = next == old.size();
        const auto to_x = end ? a.size() : static_cast<std::size_t>((*in_a)[next]);
        const auto to_y = end ? b.size() : static_cast<std::size_t>((*in_b)[next]);
        auto part = [](const Lines& lines, std::size_t from, std::size_t to) {
            std::string text;
            for (; from < to; ++from) text += lines[from];
            return text;
        };
        const std::string was = part(old, i, next), now_a = part(a, x, to_x),
                          now_b = part(b, y, to_y);
        if (now_a == was || now_a == now_b) {
            out += now_b;
        } else if (now_b == was) {
            out += now_a;
        } else {
            return std::nullopt;
        }
        if (!end) out += old[next];
        i = end ? next : next + 1;
        x = end ? to_x : to_x + 1;
        y = end ? to_y : to_y + 1;
    }
    return out;
}

}  // namespace bunraku::insight
