// SPDX-License-Identifier: Apache-2.0
// Follows changed exported resources to the nodes that collect them.
#include <algorithm>
#include <fmt/format.h>

#include "compile/insight/group_key.h"
#include "compile/insight/impact_evaluation.h"

namespace bunraku::insight {

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
        const auto old = std::make_shared<Exports>(exports_[0]),
                   now = std::make_shared<Exports>(exports_[1]);
        Exports changed[2];
        each(collectors.size(), [&](std::size_t n) {
            const std::size_t i = collectors[n];
            const auto& node = this->node(i);
            const auto answer_a = answered_with(old), answer_b = answered_with(now);
            const CompileOutcome a =
                compile_node(site_, what_.from, node, nullptr, nullptr, answer_a);
            const CompileOutcome b =
                compile_node(site_, what_.to, node, nullptr, nullptr, answer_b);
            auto found = compare(a, b, nullptr);
            if (!what_.chance && a.ok() && b.ok() && !found.empty() && (varies(a) || varies(b)))
                drop_nondeterministic(node, a, b, found, answer_a, answer_b);
            const NodeIdentity identity(node.name, node.facts);
            const std::lock_guard lock(mutex_);
            out_.compiled_before += 1;
            out_.compiled_after += 1;
            if (round == 0)
                for (const auto& change : *waiting_[i])
                    alone[i].insert(group_key(change, &identity));
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
        // Records the exports of both states for a node whose exports differ for the first
        // time.
        bool fresh = false;
        for (const auto& [name, made] : changed[1]) {
            fresh = fresh || !exports_[1].contains(name) || exports_[1][name] != made;
            exports_[1][name] = made;
        }
        for (const auto& [name, made] : changed[0]) {
            fresh = fresh || !exports_[0].contains(name) || exports_[0][name] != made;
            exports_[0][name] = made;
        }
        if (!fresh) break;
        std::string state;
        for (const auto& side : exports_)
            for (const auto& [name, all] : side)
                for (const auto& item : all)
                    state += fmt::format("{} {} {} {}\n", name, item.reference(),
                                         fmt::join(item.tags, ","), [&] {
                                             std::string text;
                                             for (const auto& [key, v] : item.parameters)
                                                 text += key + "=" + v + " ";
                                             return text;
                                         }());
        if (!seen.insert(state).second || round == kMostRounds) {
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
