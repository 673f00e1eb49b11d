// SPDX-License-Identifier: Apache-2.0
#include "compile/insight/interaction.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

#include "compile/insight/inputs.h"
#include "compile/insight/three_way.h"
#include "core/base/plain_error.h"
#include "language/environment/commit_files.h"
#include "language/environment/overlaid_files.h"

namespace bunraku::insight {

using environment::Files;

std::shared_ptr<const Files> files_of(const site::NodeRequest& request) {
    const auto& sources = request.sources;
    if (sources.files) return sources.files;
    if (sources.revision.empty()) return environment::disk_files();
    auto commit = environment::CommitFiles::open(sources.directory, sources.revision);
    if (!commit) throw base::plain_error(commit.error().message);
    return std::move(*commit);
}

State put_together(const State& from, const State& to, const State& with,
                   std::vector<std::string>& clashes) {
    const auto request = to.request();
    const std::string root = request.sources.directory;
    const auto base = files_of(from.request()), ours = files_of(request),
               theirs = files_of(with.request());
    std::vector<std::string> paths;
    for (const auto& files : {base, ours, theirs}) files_below(*files, root, paths);
    std::ranges::sort(paths);
    paths.erase(std::ranges::unique(paths).begin(), paths.end());
    auto text = [](const Files& files, const std::string& path) -> std::optional<std::string> {
        auto found = files.read(path);
        return found ? std::optional(std::move(*found)) : std::nullopt;
    };
    environment::FileOverlay exchanged;
    for (const auto& path : paths) {
        const auto old = text(*base, path), b = text(*theirs, path);
        if (old == b) continue;
        const auto a = text(*ours, path);
        if (a == b) continue;
        if (a == old) {
            exchanged.paths.push_back(path);
            continue;
        }
        std::optional<std::string> merged;
        if (a && b) merged = merged_text(old.value_or(""), *a, *b);
        if (merged)
            exchanged.texts.emplace(path, std::move(*merged));
        else
            clashes.push_back(below(path, root));
    }
    State out = to;
    out.label = fmt::format("{} and {}", to.label, with.label);
    const auto files = environment::overlaid_files(ours, theirs, std::move(exchanged));
    out.request = [made = to.request, files] {
        auto all = made();
        all.sources.revision.clear();
        all.sources.files = files;
        return all;
    };
    return out;
}

namespace {

/// The changes of one node, by group key.
using ByKey = std::map<std::string, const Change*>;

ByKey changes_of(const Impact& impact, std::size_t node) {
    ByKey out;
    for (const auto g : impact.nodes[node].groups) {
        const Group& group = impact.groups[g];
        if (group.change.kind != Kind::FailsAsBefore) out.emplace(group.key, &group.change);
    }
    return out;
}

const Change* same_place(const ByKey& changes, const Change& change) {
    for (const auto& [key, each] : changes)
        if (!change.reference.empty() && each->reference == change.reference &&
            each->parameter == change.parameter)
            return each;
    return nullptr;
}

std::string shown_value(const Change& change) {
    if (change.sensitive) return "a hidden value";
    if (change.after.empty()) return "none";
    return change.after;
}

/// Returns the changes that only both changes together cause, or that only each change alone
/// causes.
std::vector<Change> conflicts(const ByKey& one, const ByKey& other, const ByKey& other_on_one,
                              const std::string& label, const std::string& with) {
    std::vector<Change> out;
    std::set<std::pair<std::string, std::string>> places;
    auto add = [&](const Change& change, std::string text) {
        if (!places.emplace(change.reference, change.parameter).second) return;
        Change made = change;
        made.kind = Kind::Conflict;
        made.before.clear();
        made.after = std::move(text);
        out.push_back(std::move(made));
    };
    auto two_values = [&](const Change& change) {
        const Change *first = same_place(one, change), *second = same_place(other, change);
        if (!first || !second || first->after == second->after) return false;
        add(change, fmt::format("{} gets two values: {} by {}, {} by {}",
                                change.parameter.empty() ? "the resource" : change.parameter,
                                shown_value(*first), label, shown_value(*second), with));
        return true;
    };
    for (const auto& [key, change] : other_on_one) {
        if ((other.contains(key) && !one.contains(key)) || two_values(*change)) continue;
        if (change->kind == Kind::Fails || change->kind == Kind::FailsOtherwise)
            add(*change, "fails with both: " + change->after);
        else if (change->reference.empty())
            add(*change, fmt::format("only with both: {}", kind_name(change->kind)));
        else
            add(*change,
                fmt::format("{}only with both: {}",
                            change->parameter.empty() ? "" : change->parameter + " changes ",
                            change->parameter.empty() ? std::string(kind_name(change->kind))
                                                      : shown_value(*change)));
    }
    for (const auto& [key, change] : other) {
        // An effect that both changes have in common is not a conflict.
        if (one.contains(key) || other_on_one.contains(key) || two_values(*change)) continue;
        add(*change, fmt::format("the effect of {} ({}{}) disappears with both", with,
                                 kind_name(change->kind),
                                 change->parameter.empty() ? "" : " " + change->parameter));
    }
    return out;
}

}  // namespace

Impact impact_of_both(site::Site& site, const Comparison& comparison, const State& with,
                      std::span<const site::FleetNode> nodes) {
    std::vector<std::string> clashes;
    const State both = put_together(comparison.from, comparison.to, with, clashes);
    Impact out = impact(site, comparison, nodes);
    Comparison second = comparison;
    second.because = false;
    second.to = with;
    const Impact alone = impact(site, second, nodes);
    out.with = with.label;
    out.compiled_before += alone.compiled_before;
    out.compiled_after += alone.compiled_after;
    for (const auto& path : clashes)
        out.notes.push_back(
            fmt::format("{} and {} change {} in ways that cannot be merged; "
                        "the result for both uses the version of {}",
                        comparison.to.label, with.label, path, comparison.to.label));
    // A change may have another effect on the nodes that the other change touches, because code may
    // be evaluated only there.
    std::map<std::string, std::uint32_t> groups;
    auto judge = [&](const Impact& one, const Impact& other, const State& start,
                     const std::string& label, const std::string& other_label, bool not_in_other) {
        std::vector<site::FleetNode> touched;
        std::vector<std::size_t> numbers;
        for (std::size_t i = 0; i < nodes.size(); ++i) {
            if (one.nodes[i].verdict == Verdict::Untouched ||
                (not_in_other && other.nodes[i].verdict != Verdict::Untouched))
                continue;
            touched.push_back(nodes[i]);
            numbers.push_back(i);
        }
        if (touched.empty()) return;
        Comparison third = comparison;
        third.because = false;
        third.from = start;
        third.to = both;
        const Impact made = impact(site, third, touched);
        out.compiled_before += made.compiled_before;
        out.compiled_after += made.compiled_after;
        for (std::size_t n = 0; n < touched.size(); ++n) {
            const auto found = conflicts(changes_of(one, numbers[n]), changes_of(other, numbers[n]),
                                         changes_of(made, n), label, other_label);
            for (const auto& change : found) {
                const std::string key =
                    change.reference + '\0' + change.parameter + '\0' + change.after;
                const auto [it, fresh] =
                    groups.try_emplace(key, static_cast<std::uint32_t>(out.groups.size()));
                if (fresh) out.groups.push_back({.change = change, .key = key});
                out.groups[it->second].nodes.push_back(static_cast<std::uint32_t>(numbers[n]));
            }
        }
    };
    judge(out, alone, comparison.to, comparison.to.label, with.label, false);
    judge(alone, out, with, with.label, comparison.to.label, true);
    // Conflicts come first.
    std::ranges::stable_sort(out.groups, [](const Group& a, const Group& b) {
        return (a.change.kind == Kind::Conflict) > (b.change.kind == Kind::Conflict);
    });
    for (auto& node : out.nodes) node.groups.clear();
    for (std::uint32_t g = 0; g < out.groups.size(); ++g)
        for (const auto node : out.groups[g].nodes) out.nodes[node].groups.push_back(g);
    return out;
}

}  // namespace bunraku::insight
