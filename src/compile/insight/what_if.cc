// SPDX-License-Identifier: Apache-2.0
#include "compile/insight/what_if.h"

#include <algorithm>
#include <fmt/format.h>
#include <set>

#include "compile/insight/interaction.h"
#include "core/base/did_you_mean.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/codec/json_text.h"
#include "core/value/build.h"
#include "core/value/rich_data.h"
#include "language/environment/overlaid_files.h"

namespace bunraku::insight {

using value::Value;

namespace {

Value parsed(base::Arena& arena, const std::string& text) {
    const std::string_view kept = arena.copy(text);
    const auto data = value::parse_json(arena, kept);
    return data ? *data : Value::string(kept);
}

/// Parses `text` as a replacement for `old`. If the old fact is a string, the new one is too.
/// `"13"` is always a string.
Value parsed_like(base::Arena& arena, const std::string& text, const Value* old) {
    const Value v = parsed(arena, text);
    const bool container = v.is_hash() || v.is_array() || v.is_undef();
    if (!old || !old->is_string() || v.is_string() || container) return v;
    return Value::string(arena.copy(text));
}

bool has_fact(const Value& facts, std::string_view path) {
    const Value* at = &facts;
    for (const auto part : base::split(path, '.')) {
        at = at->is_hash() ? at->as_hash().find(part) : nullptr;
        if (!at) return false;
    }
    return true;
}

/// Adds the dotted names of all facts, recursively.
void add_names(const Value& facts, const std::string& prefix, std::set<std::string>& out) {
    if (!facts.is_hash()) return;
    for (const auto& e : facts.as_hash()) {
        if (!e.key.is_string()) continue;
        const auto name = prefix + std::string(e.key.as_string());
        out.insert(name);
        add_names(e.value, name + ".", out);
    }
}

/// Returns hiera.yaml with an additional first level.
std::string with_level(const std::string& text) {
    const std::string level =
        "- { name: what if, datadir: .bunraku-whatif, path: whatif.yaml, data_hash: yaml_data }\n";
    std::string out;
    bool done = false, waiting = false;
    for (const auto line : base::lines(text)) {
        if (waiting && !done) {
            const auto first = line.find_first_not_of(' ');
            if (first != std::string_view::npos && line[first] == '-') {
                out += std::string(first, ' ') + level;
                done = true;
            }
        }
        if (base::trim(line) == "hierarchy:" && line.starts_with('h')) waiting = true;
        out += std::string(line) + "\n";
    }
    if (!done)
        throw base::plain_error(
            "--hiera: the environment's hiera.yaml has no list 'hierarchy' with a level a line");
    return out;
}

}  // namespace

std::pair<std::string, std::string> assignment(const char* option, const std::string& text) {
    const auto eq = text.find('=');
    if (eq == std::string::npos || eq == 0)
        throw base::plain_error(fmt::format("{}: '{}' is not NAME=VALUE", option, text));
    return {text.substr(0, eq), text.substr(eq + 1)};
}

Value with_fact(base::Arena& arena, const Value& facts, std::string_view path,
                const std::string& text) {
    const auto dot = path.find('.');
    const auto name = arena.copy(path.substr(0, dot));
    value::HashBuilder out(arena);
    if (facts.is_hash()) out.merge(facts.as_hash());
    const Value* inner = out.find(name);
    if (dot == std::string_view::npos) {
        out.set(name, parsed_like(arena, text, inner));
    } else {
        out.set(name, with_fact(arena, inner ? *inner : Value(), path.substr(dot + 1), text));
    }
    return out.build();
}

void note_unknown_facts(const std::vector<std::pair<std::string, std::string>>& facts,
                        const std::vector<site::FleetNode>& nodes, Impact& impact) {
    for (const auto& [path, text] : facts) {
        if (std::ranges::any_of(nodes, [&](const auto& n) { return has_fact(n.facts, path); }))
            continue;
        std::set<std::string> names;
        for (const auto& node : nodes) add_names(node.facts, "", names);
        auto note = fmt::format("No node has the fact {}: it was added to all", path);
        const auto near = base::did_you_mean(path, {names.begin(), names.end()});
        if (!near.empty()) note += ". " + std::string(base::trim(near));
        impact.notes.push_back(std::move(note));
    }
}

std::shared_ptr<const environment::Files> with_keys(const site::NodeRequest& request,
                                                    const std::vector<std::string>& keys) {
    const auto& sources = request.sources;
    const auto files = files_of(request);
    base::Arena arena(4096);
    std::string data = "---\n";
    for (const auto& each : keys) {
        const auto [key, text] = assignment("--hiera", each);
        data +=
            fmt::format("{}: {}\n", codec::json_string(key), value::to_json(parsed(arena, text)));
    }
    const std::string hiera = sources.directory + "/hiera.yaml";
    const auto text = files->read(hiera);
    const std::string config =
        text ? *text : "version: 5\nhierarchy:\n  - { name: common, path: common.yaml }\n";
    return environment::overlaid_files(
        files, files,
        {{},
         {{hiera, with_level(config)},
          {sources.directory + "/.bunraku-whatif/whatif.yaml", data}}});
}

}  // namespace bunraku::insight
