// SPDX-License-Identifier: Apache-2.0
#include "compile/site/trusted_external.h"

#include <algorithm>
#include <fmt/format.h>
#include <unistd.h>

#include "compile/compiler/external_nodes.h"
#include "core/base/plain_error.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "core/value/build.h"
#include "core/value/rich_data.h"

namespace bunraku::site {

using value::Value;

namespace {

Value output_of(base::Arena& arena, sys::Processes& processes, const std::string& program,
                const std::string& node) {
    sys::Command command;
    command.argv = {program, node};
    const auto outcome = processes.run(command);
    // A program that cannot be started counts as one that failed without output, as in Puppet.
    const int status = outcome ? outcome->status : 1;
    if (status != 0) {
        throw base::plain_error(
            fmt::format("Execution of '{} {}' returned {}: {}", program, node, status,
                        outcome ? compiler::stripped_output(outcome->output) : std::string()));
    }
    auto data = value::parse_json(arena, outcome->output);
    if (!data) {
        throw base::plain_error(fmt::format("The output of '{} {}' is invalid JSON: {}", program,
                                            node, data.error().message));
    }
    return *data;
}

/// Returns "unicorn" for "unicorn.sh". A leading dot does not start an extension.
std::string without_extension(const std::string& name) {
    const auto dot = name.rfind('.');
    return dot == std::string::npos || dot == 0 ? name : name.substr(0, dot);
}

Value outputs_of_folder(base::Arena& arena, sys::Processes& processes, const std::string& folder,
                        const std::string& node, base::LogSink& log) {
    auto& files = sys::disk();
    auto names = files.list(folder);
    if (!names) throw base::plain_error(names.error().message);
    std::ranges::sort(*names);
    value::HashBuilder out(arena, names->size());
    for (const auto& file : *names) {
        const auto path = sys::join(folder, file);
        const auto status = files.stat(path);
        if (!status || status->kind != sys::FileKind::File || !files.access(path, X_OK)) {
            log.log(base::Level::Debug, fmt::format("Skipping non-executable file {}", path));
            continue;
        }
        const Value name = value::make_string(arena, without_extension(file));
        if (out.find(name)) {
            throw base::plain_error(
                fmt::format("There is more than one '{}' script in {}", name.as_string(), folder));
        }
        out.set(name, output_of(arena, processes, path, node));
    }
    return out.build();
}

}  // namespace

Value trusted_external(base::Arena& arena, const config::Settings& settings,
                       sys::Processes& processes, const std::string& node, base::LogSink& log) {
    const auto command = settings.text("trusted_external_command");
    if (command.empty()) return value::HashBuilder(arena).build();
    log.log(base::Level::Debug, fmt::format("Retrieving trusted external data from {}", command));
    if (sys::disk().is_directory(command))
        return outputs_of_folder(arena, processes, command, node, log);
    return output_of(arena, processes, command, node);
}

Value with_trusted_external(base::Arena& arena, const Value& trusted, const Value& external) {
    value::HashBuilder out(arena, trusted.as_hash().size() + 1);
    out.merge(trusted.as_hash());
    out.set("external", external);
    return out.build();
}

}  // namespace bunraku::site
