// SPDX-License-Identifier: Apache-2.0
#include "services/console/wall.h"

#include <algorithm>
#include <fmt/format.h>
#include <unordered_map>

#include "services/console/format.h"
#include "services/console/parts.h"

namespace bunraku::console {

using store::NodeRow;

namespace {

constexpr std::int64_t kCell = 11, kRow = 36;

/// The number of unchanged nodes that one cell stands for.
std::int64_t unchanged_scale(std::int64_t nodes) {
    return nodes > 20'000 ? 100 : nodes > 2'000 ? 10 : 1;
}

Url group_url(const WallGroup& group, std::string_view fact, std::string_view environment,
              std::string_view state) {
    auto url = Url({"nodes"}).with("environment", environment);
    if (fact == "environment") {
        url.with("environment", environment.empty() ? group.value : std::string_view());
    } else {
        url.with("fact", fact).with("value", group.value);
        if (group.value.empty()) url.with("missing", "true");
    }
    return std::move(url).with("state", state);
}

void group_head(Html& h, const WallGroup& group, std::string_view fact,
                std::string_view environment) {
    const auto header = h.in("header");
    const auto all = group_url(group, fact, environment, "");
    {
        const auto title = h.in("h3");
        const auto link = h.in("a", {{"class", "b"}, {"href", all}});
        if (group.value.empty()) {
            h.text("no value");
        } else {
            h.foreign(group.value, 100);
        }
    }
    count_link(h, group.counts.total, all);
    bool calm = true;
    for (const auto& text : kStateTexts) {
        const auto number = group.counts[text.state];
        if (text.state == State::Unchanged || number == 0) continue;
        calm = false;
        const auto link =
            h.in("a", {{"class", fmt::format("st {}", text.id)},
                       {"href", group_url(group, fact, environment, text.id)},
                       {"aria-label", fmt::format("{} {}", number_text(number), text.label)}});
        state_mark(h, text.state);
        h.text(number_text(number));
    }
    if (calm) h.leaf("span", {{"class", "m"}}, "all unchanged");
}

std::string wall_label(const WallGroup& group) {
    auto out = fmt::format("{}: {}", group.value.empty() ? "no value" : group.value,
                           count_text(group.counts.total, "node", "nodes"));
    for (const auto& text : kStateTexts)
        if (const auto number = group.counts[text.state])
            out += fmt::format("; {} {}", number_text(number), text.label);
    return out;
}

}  // namespace

std::string cells_path(std::int64_t first, std::int64_t last) {
    std::string out;
    const auto rectangle = [&](std::int64_t x0, std::int64_t y0, std::int64_t x1, std::int64_t y1) {
        if (x0 < x1 && y0 < y1)
            out += fmt::format("M{} {}H{}V{}H{}z", x0 * kCell, y0 * kCell, x1 * kCell, y1 * kCell,
                               x0 * kCell);
    };
    if (first >= last) return out;
    auto row = first / kRow;
    const auto last_row = last / kRow;
    if (row == last_row) {
        rectangle(first % kRow, row, last % kRow, row + 1);
        return out;
    }
    if (first % kRow != 0) {
        rectangle(first % kRow, row, kRow, row + 1);
        ++row;
    }
    rectangle(0, row, kRow, last_row);
    rectangle(0, last_row, last % kRow, last_row + 1);
    return out;
}

std::vector<WallGroup> wall_groups(const Fleet& fleet, const Grouping& grouping,
                                   const Viewer& viewer, std::string_view environment,
                                   std::int64_t now_ms) {
    std::unordered_map<std::string_view, std::size_t> index;
    std::vector<WallGroup> out;
    for (const NodeRow& node : fleet.nodes) {
        const auto of = fleet.environment(node.run);
        if (!viewer.sees(of) || (!environment.empty() && of != environment)) continue;
        const auto value = grouping.of(node);
        const auto [it, fresh] = index.try_emplace(value, out.size());
        if (fresh) out.push_back({.value = std::string(value)});
        auto& group = out[it->second];
        const auto state = state_of(node.run, now_ms);
        group.counts.add(state);
        auto& cells = group.nodes[static_cast<std::size_t>(state)];
        if (state != State::Unchanged && cells.size() < WallGroup::kMostCells)
            cells.push_back(&node);
    }
    std::ranges::stable_sort(out, [](const WallGroup& a, const WallGroup& b) {
        return a.counts.total != b.counts.total ? a.counts.total > b.counts.total
                                                : a.value < b.value;
    });
    return out;
}

void wall_patterns(Html& h) {
    const auto svg =
        h.in("svg", {{"width", 0}, {"height", 0}, {"class", "vh"}, {"aria-hidden", "true"}});
    const auto defs = h.in("defs");
    struct Size {
        std::string_view id;
        int at, size;
    };
    for (const auto& s : {Size{"one", 3, 5}, Size{"many", 1, 9}}) {
        const auto pattern = h.in("pattern", {{"id", s.id},
                                              {"width", kCell},
                                              {"height", kCell},
                                              {"patternUnits", "userSpaceOnUse"}});
        h.empty("rect", {{"class", "f-unchanged"},
                         {"x", s.at},
                         {"y", s.at},
                         {"width", s.size},
                         {"height", s.size},
                         {"rx", 1}});
    }
}

void wall_group(Html& h, const WallGroup& group, std::string_view fact,
                std::string_view environment) {
    const auto section = h.in("section");
    group_head(h, group, fact, environment);
    std::int64_t cells = 0;
    for (const auto& nodes : group.nodes) cells += static_cast<std::int64_t>(nodes.size());
    const auto scale = unchanged_scale(group.counts.total);
    const auto unchanged = group.counts[State::Unchanged];
    const auto last = cells + (unchanged + scale - 1) / scale;
    const auto rows = std::max<std::int64_t>(1, (last + kRow - 1) / kRow);
    {
        const auto svg =
            h.in("svg", {{"viewBox", fmt::format("0 0 {} {}", kRow * kCell, rows * kCell)},
                         {"role", "group"},
                         {"aria-label", wall_label(group)}});
        if (unchanged > 0) {
            const auto link =
                h.in("a", {{"href", group_url(group, fact, environment, "unchanged")},
                           {"aria-label", fmt::format("{} unchanged", number_text(unchanged))}});
            h.empty("path", {{"fill", scale == 1 ? "url(#one)" : "url(#many)"},
                             {"d", cells_path(cells, last)}});
        }
        std::int64_t at = 0;
        for (const auto& text : kStateTexts) {
            for (const NodeRow* node : group.nodes[static_cast<std::size_t>(text.state)]) {
                const auto link = h.in("a", {{"href", Url({"nodes", node->certname})}});
                h.leaf("title", fmt::format("{}: {}", node->certname, text.label));
                h.empty("use", {{"href", fmt::format("#{}", text.id)},
                                {"class", text.id},
                                {"x", at % kRow * kCell + 1},
                                {"y", at / kRow * kCell + 1},
                                {"width", 9},
                                {"height", 9}});
                ++at;
            }
        }
    }
    if (scale > 1) {
        h.leaf(
            "p", {{"class", "note"}},
            fmt::format("A large square is {} unchanged nodes; all others are one each.", scale));
    }
}

}  // namespace bunraku::console
