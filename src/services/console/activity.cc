// SPDX-License-Identifier: Apache-2.0
#include "services/console/activity.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

#include "services/console/format.h"
#include "services/console/parts.h"

namespace bunraku::console {

using store::RunCounts;

namespace {

constexpr int kBars = 48;
constexpr double kWidth = 530, kTop = 12, kBottom = 96, kStep = kWidth / kBars;

/// Returns the smallest round number that is not less than `most`: 1, 2 or 4 times a power of ten.
std::int64_t axis_end(std::int64_t most) {
    for (std::int64_t power = 1;; power *= 10)
        for (const std::int64_t factor : {1, 2, 4})
            if (factor * power >= most && factor * power >= 4) return factor * power;
}

void axis(Html& h, std::int64_t end) {
    for (int line = 0; line <= 2; ++line) {
        const auto y = kBottom - (kBottom - kTop) * line / 2;
        h.empty("path", {{"class", "grid"}, {"d", fmt::format("M0 {:.0f}H{}", y, kWidth)}});
        h.leaf("text", {{"x", 560}, {"y", fmt::format("{:.0f}", y + 4)}, {"text-anchor", "end"}},
               number_text(end * line / 2));
    }
}

void activity_bar(Html& h, const RunCounts& slot, double x, std::int64_t end) {
    const auto group = h.in("g");
    h.leaf(
        "title", {{"data-at", machine_time(slot.begin)}},
        fmt::format("{}: {} failed, {} corrected, {} changed, {} unchanged", hour_text(slot.begin),
                    slot.failed, slot.corrected, slot.changed, slot.unchanged));
    double y = kBottom;
    const auto part = [&](std::int64_t number, Attribute kind, bool advance) {
        if (number == 0) return;
        const auto height = std::max(
            1.0, (kBottom - kTop) * static_cast<double>(number) / static_cast<double>(end));
        h.empty("rect", {std::move(kind),
                         {"x", fmt::format("{:.1f}", x)},
                         {"y", fmt::format("{:.1f}", y - height)},
                         {"width", 8},
                         {"height", fmt::format("{:.1f}", height)}});
        if (advance) y -= height;
    };
    part(slot.changed, {"class", "f-changed"}, true);
    part(slot.corrected, {"class", "f-corrected"}, true);
    part(slot.failed, {"class", "f-failed"}, false);
    part(slot.failed, {"class", "hat"}, true);
}

}  // namespace

void activity_chart(Html& h, std::span<const RunCounts> slots, std::int64_t now_ms) {
    const auto newest = now_ms / store::kRunSlot * store::kRunSlot;
    const auto oldest = newest - (kBars - 1) * store::kRunSlot;
    std::int64_t most = 0;
    for (const RunCounts& slot : slots)
        if (slot.begin >= oldest)
            most = std::max(most, slot.failed + slot.corrected + slot.changed);
    const auto end = axis_end(most);
    const auto svg = h.in("svg", {{"class", "chart"},
                                  {"viewBox", "0 0 560 118"},
                                  {"preserveAspectRatio", "xMaxYMid slice"},
                                  {"role", "img"},
                                  {"aria-label",
                                   "Runs of the last 24 hours that did something, "
                                   "by half hour"}});
    {
        const auto defs = h.in("defs");
        const auto pattern = h.in("pattern", {{"id", "hatch"},
                                              {"width", 4},
                                              {"height", 4},
                                              {"patternUnits", "userSpaceOnUse"},
                                              {"patternTransform", "rotate(45)"}});
        h.empty("rect", {{"class", "f-bg"}, {"width", 1}, {"height", 4}});
    }
    axis(h, end);
    for (const RunCounts& slot : slots) {
        if (slot.begin < oldest || slot.begin > newest) continue;
        const auto place = (slot.begin - oldest) / store::kRunSlot;
        activity_bar(h, slot, static_cast<double>(place) * kStep + 1.5, end);
    }
    for (int place = 0; place < kBars - 3; ++place) {
        const auto begin = oldest + place * store::kRunSlot;
        if (begin % (3 * 2 * store::kRunSlot) != 0) continue;
        h.leaf("text",
               {{"x", fmt::format("{:.0f}", place * kStep)},
                {"y", 112},
                {"data-at", machine_time(begin)}},
               hour_text(begin));
    }
}

}  // namespace bunraku::console
