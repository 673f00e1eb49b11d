// SPDX-License-Identifier: Apache-2.0
#include "compile/insight/impact_merge.h"

#include <algorithm>
#include <iterator>
#include <unordered_map>

#include "compile/insight/group_key.h"

namespace bunraku::insight {

namespace {

bool same_texts(const Change& a, const Change& b) {
    return a.reference == b.reference && a.parameter == b.parameter && a.before == b.before &&
           a.after == b.after;
}

/// Adds the nodes of `more`, a group with the same key.
void merge_group(Group& into, Group more) {
    into.nodes.insert(into.nodes.end(), more.nodes.begin(), more.nodes.end());
    into.same_context = into.same_context && more.same_context;
    if (into.because.empty()) into.because = std::move(more.because);
    if (same_texts(into.change, more.change)) return;
    if (changed_lines(into.change)) into.same_context = false;
    // One of the two changes has placeholders for the names of its nodes, so its text is also valid
    // for the nodes of the other.
    if (group_key(into.change, nullptr) != into.key) into.change = std::move(more.change);
}

}  // namespace

void merge_impact(Impact& into, Impact more) {
    const auto offset = static_cast<std::uint32_t>(into.nodes.size());
    if (into.from.empty()) {
        into.from = more.from;
        into.to = more.to;
        into.root = more.root;
        into.with = more.with;
        into.first_seconds = more.first_seconds;
    }
    std::unordered_map<std::string, std::size_t> known;
    for (std::size_t i = 0; i < into.groups.size(); ++i) known.emplace(into.groups[i].key, i);
    for (auto& group : more.groups) {
        for (auto& node : group.nodes) node += offset;
        const auto [it, fresh] = known.try_emplace(group.key, into.groups.size());
        if (fresh) {
            into.groups.push_back(std::move(group));
        } else {
            merge_group(into.groups[it->second], std::move(group));
        }
    }
    std::ranges::move(more.nodes, std::back_inserter(into.nodes));
    for (auto& note : more.notes)
        if (std::ranges::find(into.notes, note) == into.notes.end())
            into.notes.push_back(std::move(note));
    into.compiled_before += more.compiled_before;
    into.compiled_after += more.compiled_after;
    into.tried += more.tried;
    into.seconds = std::max(into.seconds, more.seconds);
    sort_groups(into);
}

}  // namespace bunraku::insight
