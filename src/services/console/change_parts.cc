// SPDX-License-Identifier: Apache-2.0
#include "services/console/change_parts.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compile/insight/folded_names.h"
#include "compile/insight/report.h"
#include "core/base/text.h"
#include "services/console/format.h"
#include "services/console/parts.h"

namespace bunraku::console {

using insight::Group;
using insight::Impact;
using insight::Kind;

namespace {

constexpr std::size_t kMostLines = 60, kMostText = 500, kMostTitle = 500;
constexpr std::size_t kMostCauses = 5, kMostNodes = 100, kMostFolded = 6;

struct KindText {
    State mark;
    std::string_view word;
};
KindText text_of(Kind kind) {
    switch (kind) {
        case Kind::Conflict: return {State::Failed, "conflicts with another change"};
        case Kind::Fails: return {State::Failed, "the compile fails"};
        case Kind::FailsOtherwise: return {State::Failed, "fails with another error"};
        case Kind::FailsAsBefore: return {State::Noop, "fails as before"};
        case Kind::WorksAgain: return {State::Unchanged, "works again"};
        case Kind::Finding: return {State::Silent, "an apply would fail"};
        case Kind::Repaired: return {State::Unchanged, "repaired"};
        case Kind::Removed: return {State::Corrected, "removed from the catalog"};
        case Kind::Added: return {State::Changed, "added"};
        case Kind::Changed: return {State::Changed, "changed"};
        case Kind::Content: return {State::Changed, "other content"};
        case Kind::Plugin: return {State::Changed, "other plugins"};
    }
    return {State::Changed, ""};
}

/// Writes one input that causes the change, its reader, and the classes that include the reader.
void write_cause(Html& h, const insight::Cause& cause, std::string_view word) {
    const auto line = h.in("p", {{"class", "why"}});
    h.leaf("span", {{"class", "m"}}, word).text(" ");
    {
        const auto input = h.in("span", {{"class", "mono"}});
        h.foreign(cause.input, kMostTitle);
    }
    if (cause.line > 0) h.text(fmt::format(", line {}", cause.line));
    for (const auto& hop : cause.hops()) {
        h.raw(" <span class=\"m\">←</span> ");
        const auto part = h.in("span", {{"class", "mono"}});
        h.foreign(hop, kMostTitle);
    }
}

void write_causes(Html& h, const Group& group) {
    const auto& because = group.because;
    for (std::size_t i = 0; i < std::min(because.size(), kMostCauses); ++i)
        write_cause(h, because[i],
                    i > 0               ? "and"
                    : because[0].proven ? "because of"
                                        : "possibly because of");
    if (because.size() > kMostCauses)
        h.leaf("p", {{"class", "m"}},
               fmt::format("and {} more inputs", because.size() - kMostCauses));
}

void write_nodes(Html& h, const Impact& impact, const Group& group, std::size_t number) {
    std::vector<std::string> names;
    for (const auto node : group.nodes) names.push_back(impact.nodes[node].name);
    std::ranges::sort(names);
    const auto details =
        h.in("details", {{"id", fmt::format("nodes-of-{}", number)}, {"class", "sm"}});
    {
        const auto summary = h.in("summary");
        h.foreign(insight::folded_names(names, kMostFolded), kMostTitle);
    }
    const auto list = h.in("ul", {{"class", "chips in"}});
    for (std::size_t i = 0; i < std::min(names.size(), kMostNodes); ++i) {
        const auto item = h.in("li", {{"class", "chip"}});
        node_link(h, names[i]);
    }
    if (names.size() > kMostNodes)
        h.leaf("li", {{"class", "m"}},
               fmt::format("and {} more; the JSON file has all",
                           number_text(static_cast<std::int64_t>(names.size() - kMostNodes))));
}

}  // namespace

bool is_problem(const Group& group) {
    const auto kind = group.change.kind;
    return kind == Kind::Conflict || kind == Kind::Fails || kind == Kind::FailsOtherwise ||
           kind == Kind::Finding;
}

void write_change_group(Html& h, const Impact& impact, std::size_t number) {
    const Group& group = impact.groups[number];
    const auto text = text_of(group.change.kind);
    const auto box = h.in("div", {{"class", "grp"}});
    {
        const auto head = h.in("div", {{"class", "sum"}});
        state_mark(h, text.mark);
        {
            const auto title = h.in("h3", {{"class", "res"}});
            h.foreign(insight::group_title(group, impact.root), kMostTitle);
        }
        h.leaf("span", {{"class", "m"}}, text.word);
        h.leaf("span", {{"class", "push b"}},
               count_text(static_cast<std::int64_t>(group.nodes.size()), "node", "nodes"));
    }
    const auto body = h.in("div", {{"class", "ev"}});
    const auto lines = insight::group_lines(group, kMostLines, kMostText);
    if (group.change.sensitive) {
        h.leaf("p", {{"class", "m"}}, "The value is sensitive, and not shown.");
    } else if (!lines.empty()) {
        diff_block(h, fmt::format("{}", fmt::join(lines, "\n")));
    }
    write_causes(h, group);
    if (!group.same_context)
        h.leaf("p", {{"class", "m sm"}},
               "The nodes share these lines; the rest of the text differs between them.");
    write_nodes(h, impact, group, number);
}

}  // namespace bunraku::console
