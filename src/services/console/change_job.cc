// SPDX-License-Identifier: Apache-2.0
#include "services/console/change_job.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

#include "compile/insight/impact_merge.h"
#include "compile/site/fleet_facts.h"

namespace bunraku::console {

using insight::Impact;

namespace {

/// Number of nodes whose facts are in memory at once. The first part is smaller, so that the page
/// soon shows the first groups and their causes.
constexpr std::size_t kFirstPart = 100, kPart = 2000;
/// More groups, and longer values, are not shown.
constexpr std::size_t kMostGroups = 1000, kMostValue = 64 << 10;
constexpr std::size_t kMostPreview = 100;

/// Returns the verdict of a node with such a change, before all of its changes are known.
insight::Verdict verdict_of(insight::Kind kind) {
    using insight::Kind;
    using insight::Verdict;
    switch (kind) {
        case Kind::Fails: return Verdict::Fails;
        case Kind::FailsOtherwise: return Verdict::FailsOtherwise;
        case Kind::FailsAsBefore: return Verdict::FailsAsBefore;
        case Kind::WorksAgain: return Verdict::WorksAgain;
        default: return Verdict::Changed;
    }
}

void shorten(std::string& text) {
    if (text.size() > kMostValue) text = text.substr(0, kMostValue) + "…";
}

/// Leaves out what a page cannot show.
void shorten(Impact& impact) {
    if (impact.groups.size() > kMostGroups) {
        impact.notes.push_back(
            fmt::format("{} groups with fewer nodes are left out: 'bunraku impact' lists them",
                        impact.groups.size() - kMostGroups));
        impact.groups.resize(kMostGroups);
        insight::sort_groups(impact);
    }
    for (auto& group : impact.groups) {
        auto& change = group.change;
        // A cut JSON text is no JSON, so such values are left out.
        for (auto* text : {&change.before, &change.after}) {
            if (change.kind == insight::Kind::Changed && text->size() > kMostValue)
                *text = "\"(a long value)\"";
            shorten(*text);
        }
    }
}

}  // namespace

std::shared_ptr<const Impact> ChangeJob::impact() const {
    const std::lock_guard lock(mutex_);
    return impact_;
}

void ChangeJob::publish(Impact impact) {
    shorten(impact);
    auto shared = std::make_shared<const Impact>(std::move(impact));
    const std::lock_guard lock(mutex_);
    impact_ = std::move(shared);
}

void ChangeJob::preview(std::size_t done, std::span<const insight::Group> groups) {
    progress(found_.nodes.size() + done, std::min(names_.size(), kMostNodes));
    if (groups.size() == previewed_ || groups.size() > kMostPreview) return;
    previewed_ = groups.size();
    Impact more;
    more.from = from_.text();
    more.to = to_.text();
    std::map<std::uint32_t, std::uint32_t> numbers;
    for (auto group : groups) {
        for (auto& node : group.nodes) {
            const auto number = static_cast<std::uint32_t>(more.nodes.size());
            const auto [it, fresh] = numbers.try_emplace(node, number);
            if (fresh)
                more.nodes.push_back({.name = part_[node],
                                      .verdict = verdict_of(group.change.kind),
                                      .why = {},
                                      .groups = {}});
            node = it->second;
        }
        more.groups.push_back(std::move(group));
    }
    Impact all = found_;
    insight::merge_impact(all, std::move(more));
    publish(std::move(all));
}

base::Result<void> ChangeJob::run(const std::stop_token& stop) {
    base::NullSink log;
    const auto site = states_.background_site(log);
    insight::Comparison comparison;
    comparison.from = CodeStates::state_of(from_, from_);
    comparison.to = CodeStates::state_of(to_, from_);
    comparison.keep = cache_;
    comparison.stop = stop;
    comparison.progress = [this](std::size_t done, std::size_t, auto groups) {
        preview(done, groups);
    };
    const auto names = sample_of(names_, kMostNodes);
    if (names.size() < names_.size())
        found_.notes.push_back(
            fmt::format("A sample of {} of {} nodes: the result does not cover the others",
                        names.size(), names_.size()));
    progress(0, names.size());
    std::set<std::string> explained;
    comparison.explained = &explained;
    for (std::size_t i = 0; i < names.size() && !stop.stop_requested();) {
        const auto part =
            std::span(names).subspan(i, std::min(i == 0 ? kFirstPart : kPart, names.size() - i));
        i += part.size();
        base::Arena arena(64 * 1024);
        const auto nodes = BUNRAKU_TRY(facts_of_nodes(states_.queries(), arena, part));
        previewed_ = 0;
        part_.clear();
        for (const auto& node : nodes) part_.push_back(node.name);
        auto more = insight::impact(*site, comparison, nodes);
        std::set<std::string_view> judged;
        for (const auto& node : nodes) judged.insert(node.name);
        for (const auto& name : part)
            if (!judged.contains(name))
                more.nodes.push_back({.name = name, .why = "it has no facts", .groups = {}});
        insight::merge_impact(found_, std::move(more));
        for (const auto& group : found_.groups)
            if (!group.because.empty()) explained.insert(group.key);
        publish(found_);
        progress(i, names.size());
    }
    return {};
}

}  // namespace bunraku::console
