// SPDX-License-Identifier: Apache-2.0
// The failures of all nodes by kind, and one kind with its nodes.
#include <algorithm>
#include <fmt/format.h>

#include "services/console/failure_parts.h"
#include "services/console/format.h"
#include "services/console/pages/pages.h"
#include "services/console/parts.h"

namespace bunraku::console {

using base::Result;

namespace {

constexpr std::size_t kMostKinds = 200;
constexpr std::size_t kMostNodesOfKind = 500;

std::int64_t newest_of(const FailureKind& kind) {
    std::int64_t out = 0;
    for (const auto& node : kind.nodes) out = std::max(out, node.time);
    return out;
}

void write_kind(Html& h, const FailureKind& kind, std::int64_t now_ms) {
    const auto url = Url({"failures", kind.id});
    const auto article = h.in("article", {{"class", "issue"}});
    state_mark(h, State::Failed);
    {
        const auto text = h.in("div");
        {
            const auto link = h.in("a", {{"class", "t"}, {"href", url}});
            failure_title(h, kind);
        }
        if (!kind.file.empty()) {
            const auto place = h.in("p", {{"class", "m mono sm"}});
            h.foreign(kind.line > 0 ? fmt::format("{}:{}", kind.file, kind.line) : kind.file, 300);
        }
    }
    {
        const auto code = h.in("span", {{"class", "o mono"}});
        if (kind.since_code.empty()) {
            h.leaf("span", {{"class", "m"}}, "unknown");
        } else {
            h.foreign(short_code(kind.since_code), 60);
        }
    }
    {
        const auto seen = h.in("span", {{"class", "o sm"}});
        if (kind.since > 0) {
            h.text("first ");
            time_ago(h, kind.since, now_ms);
            h.empty("br");
        }
        h.text("last ");
        time_ago(h, newest_of(kind), now_ms);
    }
    const auto nodes = h.in("span", {{"class", "r"}});
    h.leaf("a", {{"class", "n b"}, {"href", url}},
           count_text(static_cast<std::int64_t>(kind.nodes.size()), "node", "nodes"));
}

}  // namespace

Result<Response> failures_page(Visit& visit) {
    const auto fleet = BUNRAKU_TRY(visit.fleet());
    const auto kinds =
        BUNRAKU_TRY(visit.console.failures.current(*visit.console.store, *fleet, visit.viewer));
    const auto failed = fleet->count(visit.viewer, visit.now_ms)[State::Failed];
    Html heading;
    {
        const auto head = heading.in("div", {{"class", "head"}});
        heading.leaf("h1", "Failures");
        const auto summary = heading.in("span", {{"class", "m"}, {"data-part", "total"}});
        heading.text(count_text(static_cast<std::int64_t>(kinds.size()), "kind", "kinds"))
            .text(" on ");
        heading.leaf("a", {{"class", "n"}, {"href", Url({"nodes"}).with("state", "failed")}},
                     count_text(failed, "node", "nodes"));
    }
    Html h;
    if (failed > static_cast<std::int64_t>(FailureKinds::kMostNodes)) {
        const auto bar = h.in("p", {{"class", "note-bar"}});
        h.text(fmt::format("Only the {} nodes whose runs are newest are counted below.",
                           number_text(FailureKinds::kMostNodes)));
    }
    {
        const auto panel =
            h.in("section", {{"class", "panel"}, {"data-part", "failures"}, {"data-rows", true}});
        if (kinds.empty()) {
            empty_state(h, "No failures", "The last run of every node was without errors.");
        } else {
            const auto head = [&] {
                const auto row = h.in("div", {{"class", "issue hd"}});
                h.leaf("span", "");
                {
                    const auto first = h.in("span");
                    h.text("Failure; ").leaf("span", {{"class", "ph"}}, "name");
                    h.text(" stands for a part that differs");
                }
                for (const char* title : {"Since code", "Seen"}) h.leaf("span", title);
                h.leaf("span", {{"class", "r"}}, "Nodes");
            };
            head();
            for (std::size_t i = 0; i < std::min(kMostKinds, kinds.size()); ++i)
                write_kind(h, kinds[i], visit.now_ms);
        }
    }
    Head head{.title = "Failures", .nav = "failures"};
    head.heading = heading.take();
    return visit.page(std::move(head), std::move(h));
}

Result<Response> failure_page(Visit& visit) {
    const auto fleet = BUNRAKU_TRY(visit.fleet());
    const auto kinds =
        BUNRAKU_TRY(visit.console.failures.current(*visit.console.store, *fleet, visit.viewer));
    const auto found = std::ranges::find(kinds, visit.param("kind"), &FailureKind::id);
    if (found == kinds.end()) {
        return not_found(
            "No node has this failure now. It may have ended since the page was opened.");
    }
    const FailureKind& kind = *found;
    Html heading;
    {
        const auto crumb = heading.in("p", {{"class", "crumb"}});
        heading.link(Url({"failures"}), "Failures");
    }
    {
        const auto head = heading.in("div", {{"class", "head"}});
        const auto title = heading.in("h1");
        failure_title(heading, kind);
    }
    {
        const auto meta = heading.in("div", {{"class", "meta"}});
        const auto origin = heading.in("span");
        failure_origin(heading, kind, visit.now_ms);
    }
    Html h;
    for (const auto& part : kind.message) {
        if (part.kind.empty() || part.values.size() < 2) continue;
        const auto panel = open_panel(
            h, fmt::format(
                   "{} of {}",
                   count_text(static_cast<std::int64_t>(part.values.size()), "value", "values"),
                   part.kind));
        const auto chips = h.in("ul", {{"class", "in chips"}});
        for (const auto& value : part.values) {
            const auto item = h.in("li", {{"class", "chip mono"}});
            h.foreign(value, 200);
        }
    }
    {
        const auto panel = open_panel(
            h, count_text(static_cast<std::int64_t>(kind.nodes.size()), "node", "nodes"));
        constexpr Column kColumns[] = {{"Name"}, {"Code"}, {"Failed", true}};
        const auto table = open_table(h, kColumns, "Nodes with this failure");
        for (std::size_t i = 0; i < std::min(kMostNodesOfKind, kind.nodes.size()); ++i) {
            const auto& node = kind.nodes[i];
            const auto row = h.in("tr");
            {
                const auto td = h.in("td");
                node_link(h, node.certname);
            }
            {
                const auto td = h.in("td", {{"class", "mono"}});
                h.foreign(short_code(node.code), 60);
            }
            const auto td = h.in("td", {{"class", "r"}});
            const auto link = h.in("a", {{"class", "n"}, {"href", Url({"runs", node.run})}});
            time_ago(h, node.time, visit.now_ms);
        }
    }
    Head head{.title = "Failure", .nav = "failures"};
    head.heading = heading.take();
    return visit.page(std::move(head), std::move(h));
}

}  // namespace bunraku::console
