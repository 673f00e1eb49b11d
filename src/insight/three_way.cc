#include "insight/three_way.h"

#include <algorithm>
#include <cstdint>
#include <vector>

#include "catalog/line_diff.h"

namespace bunraku::insight {

namespace {

using Lines = std::vector<std::string_view>;

/// For each line of `from` the line of `to` that it is in a longest common subsequence, or -1;
/// nullopt: too many lines differ.
std::optional<std::vector<int>> matches(const Lines& from, const Lines& to) {
    constexpr std::size_t kMostCells = 16'000'000;
    std::vector<int> out(from.size(), -1);
    std::size_t begin = 0, n = from.size(), m = to.size();
    while (begin < n && begin < m && from[begin] == to[begin]) {
        out[begin] = static_cast<int>(begin);
        ++begin;
    }
    while (n > begin && m > begin && from[n - 1] == to[m - 1]) {
        --n;
        --m;
        out[n] = static_cast<int>(m);
    }
    const std::size_t rows = n - begin, columns = m - begin;
    if ((rows + 1) * (columns + 1) > kMostCells) return std::nullopt;
    std::vector<std::uint32_t> length((rows + 1) * (columns + 1));
    auto at = [&](std::size_t i, std::size_t j) -> std::uint32_t& {
        return length[i * (columns + 1) + j];
    };
    for (std::size_t i = rows; i-- > 0;)
        for (std::size_t j = columns; j-- > 0;)
            at(i, j) = from[begin + i] == to[begin + j] ? at(i + 1, j + 1) + 1
                                                        : std::max(at(i + 1, j), at(i, j + 1));
    for (std::size_t i = 0, j = 0; i < rows && j < columns;) {
        if (from[begin + i] == to[begin + j]) {
            out[begin + i] = static_cast<int>(begin + j);
            ++i;
            ++j;
        } else if (at(i + 1, j) >= at(i, j + 1)) {
            ++i;
        } else {
            ++j;
        }
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
        // The next line that all three have.
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
