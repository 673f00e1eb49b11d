// SPDX-License-Identifier: Apache-2.0
#include "compile/insight/fleet.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>
#include <tuple>

#include "compile/compiler/change.h"
#include "compile/insight/fleet_compile.h"
#include "compile/insight/inputs.h"
#include "compile/insight/usage.h"
#include "core/base/text.h"
#include "core/value/text.h"
#include "language/hiera/data_cache.h"

namespace bunraku::insight {

using base::PuppetError;
using environment::Environment;
using environment::Read;
using Item = environment::ReadTable::Item;

namespace {

std::string place_text(const compiler::Reader* reader, std::string_view root) {
    if (!reader || reader->file.empty()) return {};
    return fmt::format("{}:{}", below(reader->file, root), reader->line);
}

Input input_of(const Item& item) {
    Input out{.path = {}, .detail = std::string(item.detail), .kind = item.kind, .reads = {}};
    switch (item.kind) {
        case Read::File:
        case Read::Exists:
        case Read::Folder:
        case Read::Glob:
        case Read::Names:
        case Read::Definition:
        case Read::Data: out.path = item.name; break;
        default: out.detail = item.name;
    }
    return out;
}

/// Returns the files that contain only the function or type of a name: "ntp::f", "function ntp::f",
/// "type Ntp::T".
std::set<std::string> files_that_define(const Environment& environment, std::string_view wanted) {
    const auto space = wanted.find(' ');
    const auto kind = space == std::string_view::npos ? "" : wanted.substr(0, space);
    const auto name = wanted.substr(space + 1);
    std::set<std::string> out;
    auto add = [&](std::optional<std::string> path) {
        if (path) out.insert(std::move(*path));
    };
    if (kind.empty() || kind == "function") {
        add(environment.function_file(name));
        add(environment.ruby_function_file(name, false));
        add(environment.ruby_function_file(name, true));
    }
    if (kind.empty() || kind == "type") {
        add(environment.type_file(base::lower(name)));
        add(environment.ruby_data_type_file(base::lower(name)));
    }
    return out;
}

bool is_meant(const Item& item, const Input& input, std::string_view name, std::string_view wanted,
              std::string_view root) {
    // Checks for existence and folder listings are too common to be relevant.
    if (item.kind == Read::Exists || item.kind == Read::Folder || item.kind == Read::Glob)
        return false;
    if (name == wanted) return true;
    if (!input.path.empty() && below(input.path, root) == wanted) return item.kind != Read::Names;
    if (item.kind == Read::Data) return input.detail == wanted;
    if (item.kind == Read::Definition) {
        const std::string_view detail = input.detail;
        const auto space = detail.find(' ');
        return detail == wanted || detail.substr(space + 1) == wanted;
    }
    return false;
}

}  // namespace

Readers readers(site::Site& site, const State& state, std::span<const site::FleetNode> nodes,
                std::string_view wanted) {
    Readers out;
    out.nodes = nodes.size();
    using Found = std::tuple<std::string, std::size_t, NodeReader>;
    std::vector<Found> found;
    const auto defining = files_that_define(*site.environment(state.request()), wanted);
    look_at_all(site, state, nodes, true, [&](std::size_t i, NodeCompile& compiled_node) {
        if (compiled_node.failed) out.failed.push_back(nodes[i].name);
        if (!compiled_node.trace) return;
        const std::string root = compiled_node.environment->directory();
        for (const auto& [item, answer] : compiled_node.trace->items()) {
            const Input input = input_of(item);
            const std::string name = input.name(root);
            const bool defines =
                item.kind == Read::File && defining.contains(std::string(item.name));
            if (!defines && !is_meant(item, input, name, wanted, root)) continue;
            const auto* reader = compiled_node.places->first(*compiled_node.trace->table(),
                                                             item.kind, item.name, item.detail);
            found.emplace_back(name, i,
                               NodeReader{.node = nodes[i].name,
                                          .input = name,
                                          .reader = reader ? reader->what : "",
                                          .place = place_text(reader, root)});
        }
    });
    std::ranges::stable_sort(found, [](const Found& a, const Found& b) {
        return std::tie(std::get<0>(a), std::get<1>(a)) < std::tie(std::get<0>(b), std::get<1>(b));
    });
    for (auto& each : found) out.readers.push_back(std::move(std::get<2>(each)));
    std::ranges::sort(out.failed);
    return out;
}

DeadInputs dead(site::Site& site, const State& state, std::span<const site::FleetNode> nodes) {
    UsageRecorder recorder;
    recorder.examine(site, state, nodes);
    auto usage = recorder.finish(site, state);
    DeadInputs out;
    out.nodes = nodes.size();
    for (auto& item : usage.items)
        if (item.nodes == 0)
            out.dead.push_back(
                {std::move(item.kind), std::move(item.name), std::move(item.path), item.line});
    for (const auto i : usage.failed) out.failed.push_back(std::move(usage.nodes[i]));
    std::ranges::sort(out.failed);
    return out;
}

Doctor doctor(site::Site& site, const State& state, std::span<const site::FleetNode> nodes,
              bool twice) {
    Doctor out;
    out.nodes = nodes.size();
    std::map<std::tuple<std::string, std::string, std::string>, std::set<std::string>> found;
    look_at_all(site, state, nodes, true, [&](std::size_t i, NodeCompile& compiled_node) {
        if (compiled_node.failed) out.failed.push_back(nodes[i].name);
        if (!compiled_node.trace) return;
        for (const auto& item : compiler::Change::unseen(*compiled_node.trace)) {
            // Traces contain the digests of the store's answers, so a change is visible.
            if (item.kind == Read::Query || item.kind == Read::Export) continue;
            const auto* reader = compiled_node.places->first(*compiled_node.trace->table(),
                                                             item.kind, item.name, item.detail);
            found[{std::string(environment::read_name(item.kind)), std::string(item.name),
                   place_text(reader, compiled_node.environment->directory())}]
                .insert(nodes[i].name);
        }
    });
    for (auto& [what, names] : found) {
        const auto& [kind, name, place] = what;
        out.nondeterministic.push_back({kind, name, place, {names.begin(), names.end()}});
    }
    std::ranges::stable_sort(out.nondeterministic,
                             [](const NonDeterministicRead& a, const NonDeterministicRead& b) {
                                 return a.nodes.size() > b.nodes.size();
                             });
    std::ranges::sort(out.failed);
    if (!twice) return out;
    Comparison comparison;
    comparison.from = comparison.to = state;
    comparison.everything = true;
    comparison.because = false;
    comparison.chance = true;
    auto differing = impact(site, comparison, nodes);
    for (auto& node : differing.nodes) out.names.push_back(std::move(node.name));
    for (auto& group : differing.groups)
        if (group.change.kind != Kind::FailsAsBefore) out.differs.push_back(std::move(group));
    return out;
}

}  // namespace bunraku::insight
