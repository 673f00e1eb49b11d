// SPDX-License-Identifier: Apache-2.0
// bunraku diff: shows the differences between two catalogs, which are read from files or compiled.
#include <algorithm>
#include <cstdio>
#include <fmt/format.h>
#include <map>
#include <unistd.h>

#include "cli/command.h"
#include "cli/node_options.h"
#include "compile/insight/catalog_comparison.h"
#include "core/base/plain_error.h"
#include "core/codec/json_text.h"
#include "core/sys/terminal.h"

namespace bunraku::cli {

namespace {

using insight::DiffOutcome;
using insight::DiffSide;

struct Options : insight::DiffRequest {
    std::string output;
    bool header = true, group = true;
};

void add_options(OptionParser& parser, Options& o) {
    parser.value("from-env", &o.from.environment);
    parser.value("to-env", &o.to.environment);
    parser.value("from-path", &o.from.path);
    parser.value("to-path", &o.to.path);
    parser.value("from-revision", &o.from.revision);
    parser.value("to-revision", &o.to.revision);
    parser.value("from-modulepath", &o.from.modulepath);
    parser.value("to-modulepath", &o.to.modulepath);
    parser.value("from-hiera-config", &o.from.hiera_config);
    parser.value("to-hiera-config", &o.to.hiera_config);
    parser.list("from-fact-override", &o.from.fact_overrides);
    parser.list("to-fact-override", &o.to.fact_overrides);
    parser.list("fact-override", &o.fact_overrides);
    parser.list("node", &o.nodes);
    parser.value("facts", &o.compile.facts);
    parser.value("facts-dir", &o.facts_directory);
    parser.value("facts-from", &o.facts_from);
    parser.value("enc", &o.compile.enc);
    parser.value("trusted", &o.compile.trusted);
    parser.value("server-facts", &o.compile.server_facts);
    parser.value("environmentpath", &o.compile.environmentpath);
    parser.value("hiera-config", &o.compile.hiera_config);
    parser.value("manifest", &o.manifest);
    parser.flag("storeconfigs", &o.compile.storeconfigs);
    parser.list("ignore", &o.ignore);
    parser.list("ignore-attr", &o.ignore_attributes);
    parser.list("ignore-tags", &o.ignore_tags);
    parser.flag("include-tags", &o.tags);
    parser.flag("include-classes", &o.classes);
    parser.flag("relationships", &o.relationships);
    parser.flag("containment", &o.containment);
    parser.flag("compare-file-text", &o.file_text);
    parser.flag("display-datatype-changes", &o.data_types);
    parser.flag("display-detail-add", &o.detail_add);
    parser.flag("display-source", &o.places);
    parser.flag("truncate", &o.truncate);
    parser.flag("truncate-details", &o.truncate);
    parser.flag("header", &o.header);
    parser.flag("group", &o.group);
    parser.value("context", &o.context);
    parser.value("jobs", &o.jobs);
    parser.value("output", &o.output);
    parser.flag("json", &o.json);
}

/// Nodes with the same result, apart from their own names.
struct Group {
    std::vector<const DiffOutcome*> members;
    bool literal = true;  ///< true if even the names are the same

    std::string shown(const std::string& text) const {
        return literal ? text : members[0]->identity.without(text);
    }
    std::string names(std::string_view separator) const {
        std::vector<std::string_view> nodes;
        for (const auto* m : members) nodes.push_back(m->node);
        return fmt::format("{}", fmt::join(nodes, separator));
    }
};

/// Groups the outcomes with a non-empty `text` by that text.
template <class Text>
std::vector<Group> groups_of(const Options& o, const std::vector<DiffOutcome>& outcomes,
                             Text&& text) {
    std::vector<Group> out;
    std::map<std::string_view, std::size_t> places;
    for (const auto& outcome : outcomes) {
        if (text(outcome).empty()) continue;
        std::size_t place = out.size();
        if (o.group) place = places.try_emplace(outcome.alike, place).first->second;
        if (place == out.size()) out.emplace_back();
        Group& group = out[place];
        if (!group.members.empty() && text(*group.members[0]) != text(outcome))
            group.literal = false;
        group.members.push_back(&outcome);
    }
    return out;
}

/// Reports an error that many nodes have in common only once.
void report_failures(const Options& o, const std::vector<DiffOutcome>& outcomes,
                     base::LogSink& sink) {
    auto error = [](const DiffOutcome& x) -> const std::string& { return x.error; };
    for (const Group& group : groups_of(o, outcomes, error)) {
        const std::size_t count = group.members.size();
        std::string suffix;
        if (count > 1) {
            suffix = fmt::format(" on {} nodes: {}", count, group.names(", "));
        } else if (!group.members[0]->node.empty()) {
            suffix = " on node " + group.members[0]->node;
        }
        report_error(sink, base::plain_error(group.shown(group.members[0]->error)), suffix);
    }
}

/// Returns the text output, in which nodes with the same differences are grouped.
std::string text_of(const Options& o, const std::vector<DiffOutcome>& outcomes) {
    std::string out;
    std::size_t same = 0, failed = 0;
    for (const auto& outcome : outcomes) {
        failed += !outcome.error.empty();
        same += outcome.error.empty() && outcome.same;
    }
    auto difference = [](const DiffOutcome& x) -> const std::string& { return x.text; };
    for (const Group& group : groups_of(o, outcomes, difference)) {
        if (o.header) {
            out +=
                fmt::format("diff {} {} ({})\n", o.from.label(), o.to.label(), group.names(", "));
        }
        out += group.shown(group.members[0]->text);
    }
    if (outcomes.size() > 1 && o.header) {
        out += fmt::format("{} nodes: {} the same, {} different, {} failed\n", outcomes.size(),
                           same, outcomes.size() - same - failed, failed);
    }
    return out;
}

std::string json_of(const Options& o, const std::vector<DiffOutcome>& outcomes) {
    std::string out =
        fmt::format("{{\"from\":{},\"to\":{},\"nodes\":[", codec::json_string(o.from.label()),
                    codec::json_string(o.to.label()));
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
        const auto& n = outcomes[i];
        out += fmt::format("{}{{\"node\":{},\"same\":{}", i ? "," : "", codec::json_string(n.node),
                           n.same);
        if (!n.error.empty()) out += ",\"error\":" + codec::json_string(n.error);
        if (!n.json.empty()) out += ",\"diff\":" + n.json;
        out += '}';
    }
    return out + "]}\n";
}

int run_diff(Invocation& invocation) {
    OptionParser parser(invocation);
    Options o;
    add_options(parser, o);
    std::vector<std::string> positional;
    if (!parser.parse(&positional)) return parser.exit_code();
    o.color = parser.color == "always" || parser.color == "ansi" || parser.color == "true" ||
              (parser.color.empty() && o.output.empty() && sys::has_colors(STDOUT_FILENO));
    auto sink = make_console_sink(parser);

    base::Arena arena(64 * 1024);  // for the nodes' facts
    std::vector<DiffOutcome> outcomes;
    try {
        insight::parse_ignores(o);
        // To compare two commits of one repository, the user names the repository only once.
        for (auto [side, other] : {std::pair(&o.from, &o.to), std::pair(&o.to, &o.from)}) {
            if (side->placed() ||
                (side->revision.empty() && (other->revision.empty() || !positional.empty())))
                continue;
            side->environment = other->environment;
            side->path = other->path;
        }
        auto wants = [](const DiffSide& s) { return s.placed(); };
        std::size_t next = 0;
        for (DiffSide* side : {&o.from, &o.to}) {
            if (!wants(*side) && next < positional.size()) side->file = positional[next++];
        }
        for (const DiffSide* side : {&o.from, &o.to}) {
            if (side->file.empty() && !wants(*side)) {
                throw base::plain_error(
                    "Two catalogs are needed: files, --from-env and --to-env, or --from-path and "
                    "--to-path; see 'bunraku help diff'");
            }
        }
        if (next < positional.size())
            throw base::plain_error(
                fmt::format("There is no third catalog to compare: {}", positional[next]));

        sys::ProgressLine progress;
        outcomes = insight::compare_catalogs(
            invocation.settings, site_options(*sink), o, arena,
            [&](std::size_t done, std::size_t all) {
                if (all == 0) return progress.clear();
                progress.show(done, all, "nodes compared");
            },
            *sink);
        report_failures(o, outcomes, *sink);
    } catch (const base::PuppetError& error) {
        report_error(*sink, error, "");
        return 1;
    }
    const std::string out = o.json ? json_of(o, outcomes) : text_of(o, outcomes);
    std::FILE* target = o.output.empty() ? stdout : std::fopen(o.output.c_str(), "we");
    // Errors on standard output are handled centrally for all commands.
    const bool written = target && std::fwrite(out.data(), 1, out.size(), target) == out.size() &&
                         (target == stdout || std::fclose(target) == 0);
    if (!written && target != stdout) {
        report_error(*sink, base::plain_error(fmt::format("Could not write to {}", o.output)), "");
        return 1;
    }
    for (const auto& outcome : outcomes) {
        if (!outcome.error.empty()) return 1;
    }
    return std::all_of(outcomes.begin(), outcomes.end(),
                       [](const DiffOutcome& n) { return n.same; })
               ? 0
               : 2;
}

}  // namespace

BUNRAKU_COMMAND(diff){.name = "diff",
                      .summary = "Show the differences between two catalogs.",
                      .run = run_diff,
                      .run_mode = "server"};

}  // namespace bunraku::cli
