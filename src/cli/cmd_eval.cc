// SPDX-License-Identifier: Apache-2.0
// bunraku eval: evaluates expressions in the top scope of a node.
#include <cstdio>
#include <fmt/format.h>
#include <unistd.h>

#include "cli/actions.h"
#include "cli/command.h"
#include "cli/node_options.h"
#include "cli/repl.h"
#include "core/base/plain_error.h"
#include "core/value/rich_data.h"

namespace bunraku::cli {

namespace {

int run_eval(Invocation& invocation) {
    OptionParser options(invocation);
    NodeOptions node;
    node.add_to(options);
    std::vector<std::string> expressions, positional;
    std::string format = "puppet", manifest, source_name;
    bool keep_virtual = false;
    options.list("e", &expressions);
    options.list("execute", &expressions);
    options.value("manifest", &manifest);
    options.value("source-name", &source_name);
    options.value("format", &format);
    options.flag("keep-virtual", &keep_virtual);
    if (!options.parse(&positional)) return options.exit_code();
    auto sink = make_console_sink(options);
    for (auto& text : positional) expressions.push_back(std::move(text));

    site::Site site(invocation.settings, site_options(*sink));
    std::string out, name = node.node;
    bool talking = false;
    try {
        if (format != "json" && format != "puppet") {
            throw base::plain_error(fmt::format("Unknown format '{}': json or puppet", format));
        }
        const bool with_manifest = !manifest.empty();
        if (expressions.empty() && !with_manifest) {
            talking = isatty(STDIN_FILENO) == 1 && isatty(STDOUT_FILENO) == 1;
            if (!talking) expressions.push_back(read_stdin());
        }
        auto request = node.request();
        // An interactive session without a node uses the facts of this machine.
        if (talking && node.node.empty() && node.facts.empty())
            request.facts.kind = site::FactSource::Kind::Machine;
        request.sources.manifest = manifest;
        request.sources.no_manifest = !with_manifest;
        name = site.node_name(request);
        const auto session = site.session(std::move(request), *sink);
        if (talking) return converse(*session, invocation.settings, with_manifest, *sink);
        auto last = session->evaluate(expressions, source_name, with_manifest);
        if (format == "json") {
            value::RichDataOptions rich;
            rich.references_as_strings = false;
            value::write_json(out, value::to_rich_data(*session->arena(), last, rich));
        } else {
            value::print_source(out, last);
        }
    } catch (const base::PuppetError& error) {
        report_error(*sink, error, name.empty() ? std::string() : " on node " + name);
        return 1;
    }
    out += '\n';
    std::fwrite(out.data(), 1, out.size(), stdout);
    return 0;
}

}  // namespace

BUNRAKU_COMMAND(eval){.name = "eval",
                      .summary = "Evaluate Puppet expressions and print the last value.",
                      .run = run_eval,
                      .run_mode = "server"};

}  // namespace bunraku::cli
