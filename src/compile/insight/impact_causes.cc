// SPDX-License-Identifier: Apache-2.0
// Finds the causes of the changes of a node by undoing one input after the other.
#include <algorithm>
#include <fmt/format.h>
#include <unordered_set>

#include "compile/insight/group_key.h"
#include "compile/insight/impact_evaluation.h"

namespace bunraku::insight {

namespace {

/// Maximum number of inputs to try for the node of one group, and for all nodes. Beyond it, inputs
/// are reported without proof.
constexpr std::size_t kMostInputs = 40, kMostTried = 2000;

}  // namespace

void NodeEvaluation::explain() {
    std::set<std::uint32_t> tried;
    for (auto& group : out_.groups) {
        const Kind kind = group.change.kind;
        if (!group.because.empty() || kind == Kind::FailsAsBefore) continue;
        if (what_.explained && what_.explained->contains(group.key)) continue;
        if (what_.stop.stop_requested()) return;
        if (kind == Kind::Content) {
            const auto path = below(group.change.input, out_.root);
            group.because.push_back({.input = path, .path = path, .proven = true});
            continue;
        }
        if (tried.insert(group.nodes.front()).second) explain_by(group.nodes.front());
    }
}

void NodeEvaluation::explain_by(std::uint32_t i) {
    const auto& node = this->node(i);
    auto places_a = std::make_shared<compiler::ReadLocations>();
    auto places_b = std::make_shared<compiler::ReadLocations>();
    const CompileOutcome a = compile_node(site_, what_.from, node, nullptr, places_a);
    const CompileOutcome b = compile_node(site_, what_.to, node, nullptr, places_b);
    if (!a.environment || !b.environment || !a.trace || !b.trace) return;
    if (store_unavailable(a) || store_unavailable(b)) return;
    auto reads = touched(*a.trace, a.environment, b.environment, false);
    for (const auto& item : touched(*b.trace, a.environment, b.environment, false)) {
        const bool known = std::ranges::any_of(reads, [&](const Item& r) {
            return r.kind == item.kind && r.name == item.name && r.detail == item.detail;
        });
        if (!known) reads.push_back(item);
    }
    const auto inputs = inputs_of(reads, *a.environment, *b.environment);
    const NodeIdentity identity(node.name, node.facts);
    std::vector<Cause> causes;
    for (const auto& input : inputs) causes.push_back(cause(input, a, b, *places_a, *places_b));
    // For each input, the keys of the groups that disappear without it.
    std::vector<std::set<std::string>> gone(inputs.size());
    const auto of_node = groups_of(i);
    for (auto* group : of_node) {
        // Compiles do not read the content of an added or removed `source` file, so this is its
        // own cause.
        const auto& path = group->change.input;
        if (path.empty() || group->change.kind == Kind::Content ||
            group->change.kind == Kind::Plugin ||
            a.environment->files().stat(path).exists == b.environment->files().stat(path).exists)
            continue;
        const auto name = below(path, out_.root);
        group->because = {{.input = name, .path = name, .proven = true}};
    }
    if (inputs.size() == 1 && !has_opaque_reads(a) && !has_opaque_reads(b)) {
        for (const auto* group : of_node) gone[0].insert(group->key);
    } else if (inputs.size() <= kMostInputs && out_.tried + inputs.size() <= kMostTried) {
        each(inputs.size(), [&](std::size_t n) {
            const auto files = undone(inputs[n], *a.environment, *b.environment);
            if (!files) return;
            const CompileOutcome c = compile_node(site_, what_.to, node, files);
            if (store_unavailable(c)) return;
            if (!c.ok() && b.ok() && a.ok()) {
                // An error only proves causes of changes in the same file.
                for (const auto* group : of_node)
                    if (group->change.file == inputs[n].path) gone[n].insert(group->key);
                return;
            }
            const Contents contents(c.environment ? c.environment : b.environment);
            std::unordered_set<std::string> left;
            for (const auto& change : compare(a, c, &contents))
                left.insert(group_key(change, &identity));
            for (const auto* group : of_node)
                if (!left.contains(group->key)) gone[n].insert(group->key);
        });
        out_.tried += inputs.size();
    }
    for (auto* group : of_node) {
        if (!group->because.empty() || group->change.kind == Kind::Content ||
            group->change.kind == Kind::FailsAsBefore)
            continue;
        for (std::size_t n = 0; n < inputs.size(); ++n) {
            if (!gone[n].contains(group->key)) continue;
            group->because.push_back(causes[n]);
            group->because.back().proven = true;
        }
        // No single input is the cause: several together are, or inputs that could not be
        // tried.
        if (group->because.empty()) group->because = causes;
    }
}

std::vector<Group*> NodeEvaluation::groups_of(std::uint32_t i) {
    std::vector<Group*> out;
    for (const auto g : out_.nodes[i].groups) out.push_back(&out_.groups[g]);
    return out;
}

Cause NodeEvaluation::cause(const Input& input, const CompileOutcome& a, const CompileOutcome& b,
                            compiler::ReadLocations& places_a,
                            compiler::ReadLocations& places_b) const {
    Cause out{.input = input.name(out_.root),
              .path = below(input.path, out_.root),
              .line = changed_line(input, *a.environment, *b.environment)};
    const compiler::Reader* reader = nullptr;
    for (const auto& read : input.reads) {
        if (reader) break;
        reader = places_b.first(*b.trace->table(), read.kind, read.name, read.detail);
        if (!reader) reader = places_a.first(*a.trace->table(), read.kind, read.name, read.detail);
    }
    if (!reader) return out;
    out.reader = reader->what;
    if (!reader->file.empty())
        out.place = fmt::format("{}:{}", below(reader->file, out_.root), reader->line);
    for (const auto& each : reader->via) {
        if (each.what.empty()) break;
        std::string_view name = each.what;
        if (name.starts_with("class ")) name.remove_prefix(6);
        out.via.push_back(fmt::format("{}:{}", name, each.line));
    }
    return out;
}

}  // namespace bunraku::insight
