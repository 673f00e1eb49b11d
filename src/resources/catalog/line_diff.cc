// SPDX-License-Identifier: Apache-2.0
#include "resources/catalog/line_diff.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/assert.h"

namespace bunraku::catalog {

namespace {

using Lines = std::vector<std::string_view>;

// Finds the steps that turn `a` into `b`: E. Myers, "An O(ND) Difference Algorithm", greedy form.
EditScript shortest_edits(const Lines& a, const Lines& b, int limit) {
    const int n = static_cast<int>(a.size()), m = static_cast<int>(b.size());
    std::vector<Step> steps;
    BUNRAKU_ASSERT(limit >= 0);
    const int most = std::min(n + m, limit);
    std::vector<std::vector<int>> trace;
    std::vector<int> v(static_cast<std::size_t>(2 * most + 3), 0);
    const int zero = most + 1;
    auto at = [&](std::vector<int>& row, int k) -> int& {
        return row[static_cast<std::size_t>(zero + k)];
    };
    int found = -1;
    for (int d = 0; d <= most && found < 0; ++d) {
        // Store only the part of the row that this round reads.
        BUNRAKU_ASSERT(zero - d - 1 >= 0 && zero + d + 2 <= static_cast<int>(v.size()));
        trace.emplace_back(v.begin() + (zero - d - 1), v.begin() + (zero + d + 2));
        for (int k = -d; k <= d; k += 2) {
            int x = (k == -d || (k != d && at(v, k - 1) < at(v, k + 1))) ? at(v, k + 1)
                                                                         : at(v, k - 1) + 1;
            int y = x - k;
            while (x < n && y < m &&
                   a[static_cast<std::size_t>(x)] == b[static_cast<std::size_t>(y)]) {
                ++x;
                ++y;
            }
            at(v, k) = x;
            if (x >= n && y >= m) {
                found = d;
                break;
            }
        }
    }
    BUNRAKU_ASSERT(found <= most && static_cast<int>(trace.size()) <= most + 1);
    if (found < 0) {
        steps.assign(a.size(), Step::Remove);
        steps.insert(steps.end(), b.size(), Step::Add);
        return {std::move(steps), false};
    }
    int x = n, y = m;
    for (int d = found; d > 0; --d) {
        auto& row = trace[static_cast<std::size_t>(d)];
        BUNRAKU_ASSERT(row.size() == static_cast<std::size_t>(2 * d + 3));
        auto old = [&](int k) { return row[static_cast<std::size_t>(k + d + 1)]; };
        const int k = x - y;
        const int from = (k == -d || (k != d && old(k - 1) < old(k + 1))) ? k + 1 : k - 1;
        const int px = old(from), py = px - from;
        BUNRAKU_ASSERT(px >= 0 && py >= 0 && px <= x && py <= y);
        // where the common lines after the change begin
        const int start = from == k + 1 ? px : px + 1;
        for (; x > start; --x, --y) steps.push_back(Step::Same);
        steps.push_back(from == k + 1 ? Step::Add : Step::Remove);
        x = px;
        y = py;
    }
    while (x > 0 && y > 0) {
        steps.push_back(Step::Same);
        --x;
        --y;
    }
    BUNRAKU_ASSERT(x == 0 && y == 0);
    std::reverse(steps.begin(), steps.end());
    return {std::move(steps), true};
}

std::string range(int start, int count) {
    if (count == 1) return std::to_string(start);
    return fmt::format("{},{}", count == 0 ? start - 1 : start, count);
}

}  // namespace

std::vector<std::string_view> lines_with_ends(std::string_view text) {
    Lines out;
    while (!text.empty()) {
        const auto end = std::min(text.find('\n'), text.size() - 1) + 1;
        BUNRAKU_ASSERT(end >= 1 && end <= text.size());
        out.push_back(text.substr(0, end));
        text.remove_prefix(end);
    }
    return out;
}

EditScript edit_script(const Lines& from, const Lines& to, int limit) {
    // Skip the common prefix and suffix, which need no search.
    std::size_t head = 0, tail = 0;
    while (head < from.size() && head < to.size() && from[head] == to[head]) ++head;
    while (tail < from.size() - head && tail < to.size() - head &&
           from[from.size() - 1 - tail] == to[to.size() - 1 - tail])
        ++tail;
    auto middle = [&](const Lines& all) {
        return Lines(all.begin() + static_cast<std::ptrdiff_t>(head),
                     all.end() - static_cast<std::ptrdiff_t>(tail));
    };
    BUNRAKU_ASSERT(head + tail <= from.size() && head + tail <= to.size());
    EditScript script = shortest_edits(middle(from), middle(to), limit);
    script.steps.insert(script.steps.begin(), head, Step::Same);
    script.steps.insert(script.steps.end(), tail, Step::Same);
    BUNRAKU_ASSERT(script.steps.size() -
                       static_cast<std::size_t>(std::ranges::count(script.steps, Step::Add)) ==
                   from.size());
    BUNRAKU_ASSERT(script.steps.size() -
                       static_cast<std::size_t>(std::ranges::count(script.steps, Step::Remove)) ==
                   to.size());
    return script;
}

std::vector<std::string> line_diff(std::string_view before, std::string_view after, int context,
                                   int limit) {
    BUNRAKU_ASSERT(context >= 0);
    std::vector<std::string> out;
    if (before == after) return out;
    const Lines a = lines_with_ends(before), b = lines_with_ends(after);
    const std::vector<Step> steps = edit_script(a, b, limit).steps;

    auto put = [&](char sign, std::string_view line) {
        const bool ended = line.ends_with('\n');
        out.push_back(sign + std::string(ended ? line.substr(0, line.size() - 1) : line));
        if (!ended) out.emplace_back("\\ No newline at end of file");
    };
    std::size_t i = 0, x = 0, y = 0;
    while (i < steps.size()) {
        if (steps[i] == Step::Same) {
            ++i, ++x, ++y;
            continue;
        }
        // A hunk consists of changes that are at most 2 * `context` lines apart, with up to
        // `context` lines around them.
        std::size_t lead = 0;
        while (lead < static_cast<std::size_t>(context) && lead < i &&
               steps[i - 1 - lead] == Step::Same)
            ++lead;
        std::size_t end = i, same = 0;
        for (std::size_t j = i; j < steps.size(); ++j) {
            if (steps[j] != Step::Same) {
                end = j + 1;
                same = 0;
            } else if (++same > 2 * static_cast<std::size_t>(context)) {
                break;
            }
        }
        std::size_t stop = end;
        while (stop < steps.size() && stop < end + static_cast<std::size_t>(context)) ++stop;
        BUNRAKU_ASSERT(lead <= i && i < end && end <= stop && stop <= steps.size());
        int old_count = 0, new_count = 0;
        for (std::size_t j = i - lead; j < stop; ++j) {
            old_count += steps[j] != Step::Add;
            new_count += steps[j] != Step::Remove;
        }
        out.push_back(fmt::format("@@ -{} +{} @@", range(static_cast<int>(x - lead) + 1, old_count),
                                  range(static_cast<int>(y - lead) + 1, new_count)));
        BUNRAKU_ASSERT(x >= lead && y >= lead);
        x -= lead;
        y -= lead;
        for (std::size_t j = i - lead; j < stop; ++j) {
            switch (steps[j]) {
                case Step::Same:
                    put(' ', a[x]);
                    ++x, ++y;
                    break;
                case Step::Remove: put('-', a[x++]); break;
                case Step::Add: put('+', b[y++]); break;
            }
        }
        i = stop;
    }
    BUNRAKU_ASSERT(x == a.size() && y == b.size());
    return out;
}

}  // namespace bunraku::catalog
