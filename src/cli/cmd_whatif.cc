// bunraku whatif: what would become of nodes if a fact, a class or a key were otherwise.
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <set>

#include "cli/command.h"
#include "cli/did_you_mean.h"
#include "cli/fleet_options.h"
#include "cli/impact_output.h"
#include "compile/insight/interaction.h"
#include "core/base/plain_error.h"
#include "core/base/text.h"
#include "core/codec/json_text.h"
#include "core/value/build.h"
#include "core/value/rich_data.h"
#include "language/environment/overlaid_files.h"

namespace bunraku::cli {

namespace {

using value::Value;

struct WhatIfOptions {
    FleetOptions fleet;
    std::string at;
    std::vector<std::string> facts, classes, hiera;
    ImpactOutput output;
};

/// "NAME=VALUE", VALUE as JSON or else as text.
std::pair<std::string, std::string> assignment(const char* option, const std::string& text) {
    const auto eq = text.find('=');
    if (eq == std::string::npos || eq == 0)
        throw base::plain_error(fmt::format("{}: '{}' is not NAME=VALUE", option, text));
    return {text.substr(0, eq), text.substr(eq + 1)};
}

Value parsed(base::Arena& arena, const std::string& text) {
    const std::string_view kept = arena.copy(text);
    const auto data = value::parse_json(arena, kept);
    return data ? *data : Value::string(kept);
}

/// What `text` means in place of `old`: a fact that is a string stays one. `"13"` is always one.
Value parsed_like(base::Arena& arena, const std::string& text, const Value* old) {
    const Value v = parsed(arena, text);
    const bool container = v.is_hash() || v.is_array() || v.is_undef();
    if (!old || !old->is_string() || v.is_string() || container) return v;
    return Value::string(arena.copy(text));
}

/// The facts with the value at a dotted path; what is no hash on the way becomes one.
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

bool has_fact(const Value& facts, std::string_view path) {
    const Value* at = &facts;
    for (const auto part : base::split(path, '.')) {
        at = at->is_hash() ? at->as_hash().find(part) : nullptr;
        if (!at) return false;
    }
    return true;
}

/// Adds the dotted names of all facts, and of what is inside them.
void add_names(const Value& facts, const std::string& prefix, std::set<std::string>& out) {
    if (!facts.is_hash()) return;
    for (const auto& e : facts.as_hash()) {
        if (!e.key.is_string()) continue;
        const auto name = prefix + std::string(e.key.as_string());
        out.insert(name);
        add_names(e.value, name + ".", out);
    }
}

/// A fact that no node has is probably misspelt; the facts of a later release are not.
void note_unknown_facts(const std::vector<std::pair<std::string, std::string>>& facts,
                        const std::vector<site::FleetNode>& nodes, insight::Impact& impact) {
    for (const auto& [path, text] : facts) {
        if (std::ranges::any_of(nodes, [&](const auto& n) { return has_fact(n.facts, path); }))
            continue;
        std::set<std::string> names;
        for (const auto& node : nodes) add_names(node.facts, "", names);
        auto note = fmt::format("No node has the fact {}: it was added to all", path);
        const auto near = did_you_mean(path, {names.begin(), names.end()});
        if (!near.empty()) note += ". " + std::string(base::trim(near));
        impact.notes.push_back(std::move(note));
    }
}

/// hiera.yaml with one more level, before all others.
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

/// The files of the state with the keys before all data.
std::shared_ptr<const environment::Files> with_keys(const site::NodeRequest& request,
                                                    const std::vector<std::string>& keys) {
    const auto& sources = request.sources;
    const auto files = insight::files_of(request);
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

int run_whatif(Invocation& invocation) {
    OptionParser parser(invocation);
    WhatIfOptions o;
    o.fleet.add_to(parser);
    parser.value("at", &o.at);
    parser.list("fact", &o.facts);
    parser.list("class", &o.classes);
    parser.list("hiera", &o.hiera);
    o.output.add_to(parser);
    std::vector<std::string> positional;
    if (!parser.parse(&positional)) return parser.exit_code();
    auto sink = make_console_sink(parser);
    base::Arena arena(64 * 1024);
    insight::Impact impact;
    try {
        if (!positional.empty() || (o.facts.empty() && o.classes.empty() && o.hiera.empty()))
            throw base::plain_error(
                "What is to be otherwise? --fact, --class or --hiera: see 'bunraku help whatif'");
        auto options = site_options(*sink);
        options.explain_errors = false;
        options.threads = o.fleet.threads();
        options.queue = 2 * options.threads;
        site::Site site(invocation.settings, std::move(options));
        insight::Comparison comparison;
        comparison.from = comparison.to = o.fleet.state(o.at, site.settings(), "");
        // What a node reads otherwise is no file: all are looked at, and the cause is known.
        comparison.everything = true;
        comparison.because = false;
        std::string label;
        for (const auto* list : {&o.facts, &o.classes, &o.hiera})
            for (const auto& each : *list) label += (label.empty() ? "with " : ", ") + each;
        comparison.to.label = label;
        std::vector<std::pair<std::string, std::string>> facts;
        for (const auto& each : o.facts) facts.push_back(assignment("--fact", each));
        std::shared_ptr<const environment::Files> files;
        if (!o.hiera.empty()) files = with_keys(comparison.to.request(), o.hiera);
        if (files) {
            comparison.to.request = [request = comparison.from.request, files] {
                auto out = request();
                out.sources.files = files;
                return out;
            };
        }
        comparison.to.adjust = [&](site::NodeRequest& request) {
            for (const auto& [path, text] : facts)
                request.facts.values = with_fact(*request.arena, request.facts.values, path, text);
            request.more_classes = o.classes;
        };
        const auto fleet = o.fleet.fleet(site, arena, *sink);
        impact = insight::impact(site, comparison, fleet.nodes);
        ImpactOutput::add_unjudged(impact, fleet.unjudged);
        for (const auto& note : fleet.notes) impact.notes.push_back(note);
        note_unknown_facts(facts, fleet.nodes, impact);
    } catch (const base::PuppetError& error) {
        report_error(*sink, error, "");
        return 1;
    }
    return o.output.write(parser, impact, *sink);
}

}  // namespace

BUNRAKU_COMMAND(whatif){.name = "whatif",
                        .summary = "Show what nodes would become with another fact, class or key.",
                        .run = run_whatif,
                        .run_mode = "server"};

}  // namespace bunraku::cli
