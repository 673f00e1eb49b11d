// SPDX-License-Identifier: Apache-2.0
// bunraku fleet: reports what the compiles of all nodes read, and which files or data none of them
// reads.
#include <cstdio>
#include <fmt/format.h>
#include <map>

#include "cli/command.h"
#include "cli/fleet_options.h"
#include "compile/insight/fleet.h"
#include "core/base/plain_error.h"
#include "core/codec/json_text.h"

namespace bunraku::cli {

namespace {

using codec::json_string;

struct FleetCommandOptions {
    FleetOptions fleet;
    std::string at;
    bool json = false, twice = false;
};

/// Returns a JSON list; `write` writes each item.
template <class List, class Write>
std::string json_list(const List& list, Write&& write) {
    std::string out = "[";
    for (const auto& each : list) {
        if (out.size() > 1) out += ',';
        out += write(each);
    }
    return out + "]";
}
std::string json_names(const std::vector<std::string>& names) {
    return json_list(names, [](const auto& n) { return json_string(n); });
}

std::string some(const std::vector<std::string>& names) {
    constexpr std::size_t kMost = 5;
    std::string out;
    for (std::size_t i = 0; i < names.size() && i < kMost; ++i) out += (i ? ", " : "") + names[i];
    if (names.size() > kMost) out += fmt::format(" and {} more", names.size() - kMost);
    return out;
}

std::string failures_text(const std::vector<std::string>& failed) {
    if (failed.empty()) return {};
    return fmt::format(
        "Note: {} of the nodes fail to compile, and what they would read is not "
        "known: {}\n",
        failed.size(), some(failed));
}

std::string readers_text(const insight::Readers& found, const std::string& input, bool json) {
    if (json) {
        return fmt::format(
            "{{\"input\":{},\"nodes\":{},\"failed\":{},\"readers\":{}}}\n", json_string(input),
            found.nodes, json_names(found.failed), json_list(found.readers, [](const auto& r) {
                return fmt::format("{{\"node\":{},\"input\":{},\"reader\":{},\"place\":{}}}",
                                   json_string(r.node), json_string(r.input), json_string(r.reader),
                                   json_string(r.place));
            }));
    }
    std::map<std::pair<std::string, std::string>, std::vector<std::string>> groups;
    for (const auto& r : found.readers) {
        const std::string who = r.reader.empty() ? "main manifest" : r.reader;
        groups[{r.input, r.place.empty() ? who : fmt::format("{} ({})", who, r.place)}].push_back(
            r.node);
    }
    std::string out;
    for (const auto& [what, nodes] : groups)
        out += fmt::format("{} → {}\n    {} of {} nodes: {}\n", what.first, what.second,
                           nodes.size(), found.nodes, some(nodes));
    if (groups.empty()) out = fmt::format("None of {} nodes reads {}\n", found.nodes, input);
    return out + failures_text(found.failed);
}

std::string dead_text(const insight::DeadInputs& found, bool json) {
    if (json) {
        return fmt::format("{{\"nodes\":{},\"failed\":{},\"dead\":{}}}\n", found.nodes,
                           json_names(found.failed), json_list(found.dead, [](const auto& d) {
                               return fmt::format(
                                   "{{\"kind\":{},\"name\":{},\"path\":{},\"line\":{}}}",
                                   json_string(d.kind), json_string(d.name), json_string(d.path),
                                   d.line);
                           }));
    }
    std::string out;
    for (const auto& d : found.dead) {
        out += fmt::format("{} {}", d.kind, d.name);
        if (d.name != d.path) out += fmt::format(" ({}", d.path);
        if (d.line > 0) out += fmt::format(":{}", d.line);
        out += d.name != d.path ? ")\n" : "\n";
    }
    return out +
           fmt::format("{} things that none of {} nodes reads\n", found.dead.size(), found.nodes) +
           failures_text(found.failed);
}

std::string doctor_text(const insight::Doctor& found, bool json, bool twice) {
    auto names_of = [&](const insight::Group& group) {
        std::vector<std::string> out;
        for (const auto n : group.nodes) out.push_back(found.names[n]);
        return out;
    };
    if (json) {
        std::string out = fmt::format(
            "{{\"nodes\":{},\"failed\":{},\"spoilers\":{}", found.nodes, json_names(found.failed),
            json_list(found.nondeterministic, [](const auto& s) {
                return fmt::format("{{\"kind\":{},\"name\":{},\"place\":{},\"nodes\":{}}}",
                                   json_string(s.kind), json_string(s.name), json_string(s.place),
                                   json_names(s.nodes));
            }));
        if (twice) {
            out += ",\"differs\":" + json_list(found.differs, [&](const auto& g) {
                       return fmt::format("{{\"reference\":{},\"parameter\":{},\"nodes\":{}}}",
                                          json_string(g.change.reference),
                                          json_string(g.change.parameter), json_names(names_of(g)));
                   });
        }
        return out + "}\n";
    }
    std::string out;
    for (const auto& s : found.nondeterministic)
        out += fmt::format("{}{}{}\n    {} of {} nodes: {}\n", s.kind,
                           s.name.empty() ? "" : " " + s.name,
                           s.place.empty() ? "" : " (" + s.place + ")", s.nodes.size(), found.nodes,
                           some(s.nodes));
    if (found.nondeterministic.empty())
        out = fmt::format("What {} nodes read is known of all of them\n", found.nodes);
    for (const auto& g : found.differs)
        out += fmt::format("differs from compile to compile: {} {}\n    {}\n", g.change.reference,
                           g.change.parameter, some(names_of(g)));
    if (twice && found.differs.empty()) out += "Two compiles of each node are the same\n";
    return out + failures_text(found.failed);
}

int run_fleet(Invocation& invocation) {
    OptionParser parser(invocation);
    FleetCommandOptions w;
    w.fleet.add_to(parser);
    parser.value("at", &w.at);
    parser.flag("json", &w.json);
    parser.flag("twice", &w.twice);
    std::vector<std::string> words;
    if (!parser.parse(&words)) return parser.exit_code();
    auto sink = make_console_sink(parser);
    try {
        const std::string action = words.empty() ? "" : words[0];
        const std::size_t takes = action == "readers" ? 2 : 1;
        if ((action != "readers" && action != "dead" && action != "doctor") ||
            words.size() != takes)
            throw base::plain_error(
                "Expected readers INPUT, dead or doctor: see "
                "'bunraku help fleet'");
        auto options = site_options(*sink);
        options.explain_errors = false;
        options.threads = w.fleet.threads();
        options.queue = 2 * options.threads;
        site::Site site(invocation.settings, std::move(options));
        base::Arena arena(64 * 1024);
        const auto state = w.fleet.state(w.at, site.settings(), "");
        const auto fleet = w.fleet.fleet(site, arena, *sink);
        for (const auto& [name, why] : fleet.unjudged)
            sink->log(base::Level::Warning, fmt::format("{} was not looked at: {}", name, why));
        for (const auto& note : fleet.notes) sink->log(base::Level::Warning, note);
        const std::string out =
            action == "readers" ? readers_text(insight::readers(site, state, fleet.nodes, words[1]),
                                               words[1], w.json)
            : action == "dead"
                ? dead_text(insight::dead(site, state, fleet.nodes), w.json)
                : doctor_text(insight::doctor(site, state, fleet.nodes, w.twice), w.json, w.twice);
        std::fwrite(out.data(), 1, out.size(), stdout);
        return fleet.unjudged.empty() ? 0 : 3;
    } catch (const base::PuppetError& error) {
        report_error(*sink, error, "");
        return 1;
    }
}

}  // namespace

BUNRAKU_COMMAND(fleet){
    .name = "fleet",
    .summary = "Show what the compiles of nodes read, and what none of them reads.",
    .run = run_fleet,
    .run_mode = "server"};

}  // namespace bunraku::cli
