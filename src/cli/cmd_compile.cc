// SPDX-License-Identifier: Apache-2.0
// bunraku compile: prints a node's catalog, and nothing else, to standard output.
#include <chrono>
#include <cstdio>
#include <fmt/format.h>

#include "cli/command.h"
#include "cli/node_options.h"
#include "compile/compiler/trace_json.h"
#include "compile/site/agent_catalog.h"
#include "core/base/plain_error.h"
#include "resources/catalog/wire.h"
#include "services/agent/compile_worker.h"
#include "store/engine/store.h"

namespace bunraku::cli {

namespace {

/// Prints a profile of the compile to standard error: first the passes, then the total and the part
/// of it spent in Ruby.
void print_profile(std::int64_t whole, const site::Compiled& compiled, const ruby::Profile& ruby) {
    auto line = [](std::int64_t nanoseconds, std::uint64_t calls, std::string_view what) {
        fmt::print(stderr, "{:>10.3f} ms {:>7}  {}\n", static_cast<double>(nanoseconds) / 1e6,
                   calls, what);
    };
    fmt::print(stderr, "{:>13} {:>7}\n", "time", "calls");
    for (const auto& pass : compiled.timings) line(pass.nanoseconds, 1, pass.name);
    line(whole, 1, "compile");
    line(ruby.start_nanoseconds, static_cast<std::uint64_t>(ruby.starts), "starts of Ruby");
    for (const auto& entry : ruby.entries) line(entry.nanoseconds, entry.calls, entry.name);
}

void write_inputs(const std::string& path, const std::string& json) {
    std::FILE* file = std::fopen(path.c_str(), "we");
    const bool written = file && std::fwrite(json.data(), 1, json.size(), file) == json.size() &&
                         std::fputc('\n', file) != EOF;
    if ((file && std::fclose(file) != 0) || !written) {
        throw base::plain_error(fmt::format("Could not write {}", path));
    }
}

/// Returns the version of a wire format ("wire-v9"), or 0 for the format "catalog". Throws for
/// other texts.
int wire_version(const std::string& format) {
    if (format == "catalog") return 0;
    const int wire = format.starts_with("wire-v") && format.size() == 7 ? format[6] - '0' : 0;
    if (wire < catalog::oldest_wire_version() || wire > catalog::newest_wire_version()) {
        throw base::plain_error(fmt::format("Unknown format '{}': catalog or wire-v{} to wire-v{}",
                                            format, catalog::oldest_wire_version(),
                                            catalog::newest_wire_version()));
    }
    return wire;
}

/// Joins the values of -e with line ends. Empty values at the beginning add none.
std::string lines_of(const std::vector<std::string>& code) {
    std::string out;
    for (const auto& part : code) {
        if (!out.empty()) out += '\n';
        out += part;
    }
    return out;
}

std::string in_wire_format(int version, const site::Compiled& compiled, std::string producer) {
    catalog::WireEnvelope envelope;
    envelope.producer = std::move(producer);
    envelope.producer_timestamp = store::now_ms();
    envelope.transaction_uuid = compiled.catalog->catalog_uuid;
    envelope.has_producer_timestamp = true;
    auto written = catalog::write_wire(version, *compiled.catalog, envelope, *compiled.naming);
    if (!written) throw base::plain_error(written.error().message);
    return std::move(*written);
}

int run_compile(Invocation& invocation) {
    OptionParser options(invocation);
    NodeOptions node;
    node.add_to(options);
    std::vector<std::string> code, positional;
    std::string format = "catalog", manifest, render_as, inputs;
    bool keep_virtual = false, profile = false, worker = false;
    options.list("e", &code);
    options.list("execute", &code);
    options.value("manifest", &manifest);
    options.value("format", &format);
    options.value("revision", &node.revision);
    options.value("inputs", &inputs);
    options.value("render-as", &render_as);
    options.flag("keep-virtual", &keep_virtual);
    options.flag("profile", &profile);
    options.flag("worker", &worker);
    if (!options.parse(&positional)) return options.exit_code();
    auto sink = make_console_sink(options);
    if (worker) {
        if (!positional.empty() || !code.empty())
            throw base::plain_error(
                "With --worker, the requests specify what to compile; omit the arguments");
        return agent::run_compile_worker(invocation.settings, site_options(*sink), stdin, stdout);
    }
    if (!positional.empty()) manifest = positional[0];

    site::Site site(invocation.settings, site_options(*sink));
    std::string out, suffix;  // " on node NAME" for errors that relate to the node
    try {
        const int wire = wire_version(format);
        auto request = node.request();
        if (node.facts.empty()) request.facts.kind = site::FactSource::Kind::Machine;
        if (node.server_facts.empty()) request.server_facts.kind = site::ServerFacts::Kind::Fixed;
        if (code.empty())
            request.sources.manifest = manifest;
        else
            request.sources.code = lines_of(code);
        request.record.trace = !inputs.empty();
        const auto session = site.session(std::move(request), *sink);
        suffix = " on node " + session->node();
        const auto begin = std::chrono::steady_clock::now();
        const auto compiled = session->compile();
        if (profile) {
            print_profile((std::chrono::steady_clock::now() - begin).count(), compiled,
                          session->ruby_profile());
        }
        if (!inputs.empty()) {
            write_inputs(inputs, compiler::trace_to_json(*compiled.trace, *compiled.environment,
                                                         compiled.node));
        }
        if (wire) {
            out = in_wire_format(wire, compiled, invocation.settings.text("certname"));
        } else {
            suffix.clear();
            out = site::agent_catalog(
                compiled,
                keep_virtual ? site::VirtualResources::Keep : site::VirtualResources::Omit, *sink);
        }
        if (compiled.view->storeconfigs()) site.store(compiled, *sink);
    } catch (const base::PuppetError& error) {
        report_error(*sink, error, suffix);
        return 1;
    }
    out += '\n';
    std::fwrite(out.data(), 1, out.size(), stdout);
    return 0;
}

}  // namespace

BUNRAKU_COMMAND(compile){.name = "compile",
                         .summary = "Compile a node's catalog and print it as JSON.",
                         .run = run_compile,
                         .run_mode = "server"};

}  // namespace bunraku::cli
