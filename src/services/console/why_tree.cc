// SPDX-License-Identifier: Apache-2.0
#include "services/console/why_tree.h"

#include <fmt/format.h>

#include "services/console/event_parts.h"

namespace bunraku::console {

namespace {

using insight::Reason;

/// An explanation with more reasons than this is cut.
constexpr std::size_t kMostReasons = 400;
constexpr std::size_t kMostDepth = 40;
constexpr std::size_t kMostText = 600;

bool is_level(const Reason& reason) { return reason.kind == "level"; }
/// See CatalogExplainer::levels().
bool has_key(const Reason& reason) { return reason.value == "true"; }

void write_reason(Html& h, const Reason& reason) {
    const bool hit = is_level(reason) && has_key(reason);
    const bool passed = is_level(reason) && !hit;
    const auto row = h.in("div", {{"class", hit ? "row hit" : passed ? "row m" : "row"}});
    {
        const auto text = h.in("span");
        h.foreign(reason.text, kMostText);
    }
    // The text of a Hiera level already names its file.
    if (reason.file.empty() || (is_level(reason) && reason.line == 0)) return;
    const auto place = h.in("span", {{"class", "at mono"}});
    h.foreign(reason.line > 0 ? fmt::format("{}:{}", reason.file, reason.line) : reason.file, 300);
}

void write_reasons(Html& h, const std::vector<Reason>& reasons, std::size_t depth,
                   std::size_t& left) {
    const auto list = h.in("ul");
    for (const Reason& reason : reasons) {
        const auto item = h.in("li");
        if (left == 0 || depth == kMostDepth) {
            h.leaf("div", {{"class", "row m"}}, "… more reasons are not shown");
            return;
        }
        --left;
        write_reason(h, reason);
        if (!reason.because.empty()) write_reasons(h, reason.because, depth + 1, left);
    }
}

}  // namespace

void why_tree(Html& h, const std::vector<Reason>& reasons) {
    const auto tree = h.in("div", {{"class", "why"}});
    std::size_t left = kMostReasons;
    write_reasons(h, reasons, 0, left);
}

}  // namespace bunraku::console
