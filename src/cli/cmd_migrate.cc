// SPDX-License-Identifier: Apache-2.0
// bunraku migrate check: reports what would differ for a Puppet site under Bunraku, and whether its
// catalogs remain the same.
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <map>

#include "cli/actions.h"
#include "cli/command.h"
#include "cli/node_options.h"
#include "compile/migration/findings.h"
#include "compile/migration/level_findings.h"
#include "compile/migration/stored_catalogs.h"
#include "core/codec/json_text.h"

namespace bunraku::cli {
namespace {

std::string_view weight_name(migration::MigrationFinding::Weight weight) {
    switch (weight) {
        case migration::MigrationFinding::Weight::Broken: return "broken";
        case migration::MigrationFinding::Weight::Differs: return "differs";
        default: return "note";
    }
}

using migration::NodeOutcome;

std::size_t count(const std::vector<NodeOutcome>& all, NodeOutcome::State state) {
    return static_cast<std::size_t>(std::ranges::count(all, state, &NodeOutcome::state));
}

void print_nodes(const std::vector<NodeOutcome>& nodes) {
    using State = NodeOutcome::State;
    std::map<std::pair<State, std::string>, std::vector<const NodeOutcome*>> groups;
    for (const auto& n : nodes)
        if (n.state == State::Different || n.state == State::Failed)
            groups[{n.state, n.alike}].push_back(&n);
    for (const auto& [key, members] : groups) {
        constexpr std::size_t kNamed = 5;
        std::string names;
        for (std::size_t i = 0; i < std::min(members.size(), kNamed); ++i)
            names += (i == 0 ? "" : ", ") + members[i]->node;
        if (members.size() > kNamed) names += fmt::format(" and {} more", members.size() - kNamed);
        fmt::print("\n{} {}\n{}",
                   key.first == State::Failed ? "does not compile:" : "differs:", names,
                   members.front()->text);
    }
    fmt::print("\n{} nodes: {} the same, {} different, {} failed", nodes.size(),
               count(nodes, State::Same), count(nodes, State::Different),
               count(nodes, State::Failed));
    if (const auto n = count(nodes, State::Unknown)) fmt::print(", {} without a catalog", n);
    fmt::print("\n");
}

void print_json(const std::vector<migration::MigrationFinding>& findings,
                const std::vector<NodeOutcome>* nodes) {
    using State = NodeOutcome::State;
    std::string out = "{\"findings\":[";
    for (const auto& f : findings) {
        if (!out.ends_with('[')) out += ',';
        out += fmt::format("{{\"weight\":\"{}\",\"where\":{},\"text\":{}}}", weight_name(f.weight),
                           codec::json_string(f.where), codec::json_string(f.text));
    }
    out += ']';
    if (nodes) {
        out += ",\"nodes\":[";
        for (const auto& n : *nodes) {
            if (!out.ends_with('[')) out += ',';
            const char* state = n.state == State::Same        ? "same"
                                : n.state == State::Different ? "different"
                                : n.state == State::Failed    ? "failed"
                                                              : "unknown";
            out += fmt::format("{{\"node\":{},\"state\":\"{}\",\"text\":{}}}",
                               codec::json_string(n.node), state, codec::json_string(n.text));
        }
        out += ']';
    }
    out += "}\n";
    std::fwrite(out.data(), 1, out.size(), stdout);
}

int run_migrate(Invocation& invocation) {
    OptionParser options(invocation);
    std::vector<std::string> positional, rest, nodes;
    std::string facts_from = "store", to;
    bool no_catalogs = false, json = false;
    options.value("facts-from", &facts_from);
    options.list("node", &nodes);
    options.flag("no-catalogs", &no_catalogs);
    options.flag("json", &json);
    options.value("to", &to);
    if (!options.parse(&positional)) return options.exit_code();
    auto sink = make_console_sink(options);
    const std::string action = take_action(positional, rest);
    if (action != "check" || !rest.empty()) {
        fmt::print(stderr, "Error: 'migrate' has {}.  See `{} help migrate`.\n",
                   action.empty() ? "no default action" : fmt::format("no '{}' action", action),
                   invocation.program);
        return 1;
    }
    const auto level = config::level_from_name(to);
    if (!to.empty() && !level) {
        fmt::print(stderr, "Error: --to is puppet8, openvox8 or openvox9, not '{}'\n", to);
        return 1;
    }
    if (level) invocation.settings.set("compatibility", to);
    const auto findings = level ? migration::level_findings(invocation.settings, *level, *sink)
                                : migration::migration_findings(invocation.settings, *sink);
    std::vector<NodeOutcome> outcomes;
    std::string without;
    if (!no_catalogs) {
        try {
            outcomes = migration::compare_stored_catalogs(invocation.settings, site_options(*sink),
                                                          facts_from, nodes, *sink);
        } catch (const base::PuppetError& e) {
            without = e.full_text();
        }
    }
    using Weight = migration::MigrationFinding::Weight;
    const auto weigh = [&](Weight w) {
        return std::ranges::count(findings, w, &migration::MigrationFinding::weight);
    };
    const bool bad = weigh(Weight::Broken) > 0 || count(outcomes, NodeOutcome::State::Failed) > 0;
    const bool other =
        weigh(Weight::Differs) > 0 || count(outcomes, NodeOutcome::State::Different) > 0;
    if (json) {
        print_json(findings, no_catalogs ? nullptr : &outcomes);
    } else {
        for (const auto weight : {Weight::Broken, Weight::Differs, Weight::Note})
            for (const auto& f : findings)
                if (f.weight == weight)
                    fmt::print("{:<8} {}: {}\n", weight_name(f.weight), f.where, f.text);
        fmt::print("{} broken, {} differ, {} notes\n", weigh(Weight::Broken),
                   weigh(Weight::Differs), weigh(Weight::Note));
        if (!outcomes.empty()) print_nodes(outcomes);
    }
    if (!without.empty()) fmt::print(stderr, "No catalog was compared: {}\n", without);
    return bad ? 1 : other ? 2 : 0;
}

}  // namespace

BUNRAKU_COMMAND(migrate){.name = "migrate",
                         .summary = "Report what would differ for a Puppet site under Bunraku.",
                         .run = run_migrate,
                         .run_mode = "server"};

}  // namespace bunraku::cli
