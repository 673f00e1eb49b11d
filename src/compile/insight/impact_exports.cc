// SPDX-License-Identifier: Apache-2.0
// Follows changed exported resources to the nodes that collect them.
#include <algorithm>
#include <fmt/format.h>

#include "compile/insight/group_key.h"
#include "compile/insight/impact_evaluation.h"

namespace bunraku::insight {

/// Returns a text that is equal for equal exports of both states.
static std::string text_of_exports(const Exports (&sides)[2]) {
    std::string out;
    for (const auto& side : sides) {
        for (const auto& [name, all] : side) {
            for (const auto& item : all) {
                out += fmt::format("{} {} {} ", name, item.reference(), fmt::join(item.tags, ","));
                for (const auto& [key, v] : item.parameters) out += key + "=" + v + " ";
                out += '\n';
            }
        }
    }
    return out;
}

void NodeEvaluation::recompile_collectors(const std::vector<std::size_t>& collectors,
                                          std::vector<std::set<std::string>>* alone,
                                          Exports (&changed)[2]) {
    const auto old = std::make_shared<Exports>(exports_[0]),
               now = std::make_shared<Exports>(exports_[1]);
    each(collectors.size(), [&](std::size_t n) {
        const std::size_t i = collectors[n];
        const auto& node = this->node(i);
        const auto answer_a = answered_with(old), answer_b = answered_with(now);
        const CompileOutcome a = compile_node(site_, what_.from, node, nullptr, nullptr, answer_a);
        const CompileOutcome b = compile_node(site_, what_.to, node, nullptr, nullptr, answer_b);
        auto found = compare(a, b, nullptr);
        if (!what_.chance && a.ok() && b.ok() && !found.empty() && (varies(a) || varies(b)))
            drop_nondeterministic(node, a, b, found, answer_a, answer_b);
        const NodeIdentity identity(node.name, node.facts);
        const std::lock_guard lock(mutex_);
        out_.compiled_before += 1;
        out_.compiled_after += 1;
        if (alone)
            for (const auto& change : *waiting_[i])
                (*alone)[i].insert(group_key(change, &identity));
        EvaluatedNode& out = out_.nodes[i];
        const bool untouched = out.verdict == Verdict::Untouched && found.empty();
        if (!untouched) out.verdict = verdict(a, b, found);
        out.why = b.error;
        *waiting_[i] = std::move(found);
        for (const auto& [made, known, into] :
             {std::tuple(&a, &*old, &changed[0]), std::tuple(&b, &*now, &changed[1])}) {
            if (!made->ok()) continue;
            auto own = exports_of(*made->compiled.catalog);
            const auto it = known->find(node.name);
            if (it == known->end() ? own.empty() : it->second == own) continue;
            (*into)[node.name] = std::move(own);
        }
    });
}

bool NodeEvaluation::add_exports(const Exports (&changed)[2]) {
    bool fresh = false;
    for (std::size_t side = 0; side < 2; ++side) {
        for (const auto& [name, made] : changed[side]) {
            fresh = fresh || !exports_[side].contains(name) || exports_[side][name] != made;
            exports_[side][name] = made;
        }
    }
    return fresh;
}

void NodeEvaluation::record_collectors(const std::vector<std::size_t>& collectors,
                                       const std::vector<std::set<std::string>>& alone) {
    std::vector<std::string> exporters;
    for (const auto& [name, all] : exports_[1]) exporters.push_back(name);
    for (const auto i : collectors) {
        record(i, *waiting_[i]);
        // A change that appeared only with the new exports is caused by them.
        if (exports_[1].empty()) continue;
        const NodeIdentity identity = identity_of(i);
        for (const auto& change : *waiting_[i]) {
            const auto key = group_key(change, &identity);
            if (alone[i].contains(key)) continue;
            Group& group = out_.groups[places_[key]];
            if (group.because.empty())
                group.because.push_back({.input = exported_by(change, exporters)});
            group.because.front().proven = true;
        }
        waiting_[i].reset();
    }
}

void NodeEvaluation::follow_exports() {
    constexpr int kMostRounds = 10;
    std::vector<std::size_t> collectors;
    for (std::size_t i = 0; i < waiting_.size(); ++i)
        if (waiting_[i]) collectors.push_back(i);
    std::vector<std::set<std::string>> alone(nodes_.size());
    std::set<std::string> seen;
    for (int round = 0; !collectors.empty() && !exports_[1].empty(); ++round) {
        if (what_.stop.stop_requested()) {
            exports_[1].clear();
            break;
        }
        Exports changed[2];
        recompile_collectors(collectors, round == 0 ? &alone : nullptr, changed);
        if (!add_exports(changed)) break;
        if (!seen.insert(text_of_exports(exports_)).second || round == kMostRounds) {
            std::vector<std::string> names;
            for (const auto& [name, made] : changed[1]) names.push_back(name);
            out_.notes.push_back(
                fmt::format("The exported resources of these nodes, which collect from each "
                            "other, did not stabilise{}: {}",
                            round == kMostRounds ? fmt::format(" in {} runs", kMostRounds) : "",
                            fmt::join(names, ", ")));
            break;
        }
    }
    record_collectors(collectors, alone);
}

std::string NodeEvaluation::exported_by(const Change& change,
                                        const std::vector<std::string>& all) const {
    std::vector<std::string> names;
    for (const auto& name : all) {
        auto find = [&](const Exports& side) -> const Export* {
            const auto it = side.find(name);
            if (it == side.end()) return nullptr;
            for (const auto& item : it->second)
                if (item.reference() == change.reference) return &item;
            return nullptr;
        };
        const Export *old = find(exports_[0]), *now = find(exports_[1]);
        if (old && now ? !(*old == *now) : old != now) names.push_back(name);
    }
    if (names.empty())
        return fmt::format("what {} export{}", fmt::join(all, ", "), all.size() == 1 ? "s" : "");
    return fmt::format("{} exported by {}", change.reference, fmt::join(names, ", "));
}

}  // namespace bunraku::insight
