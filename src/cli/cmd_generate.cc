// SPDX-License-Identifier: Apache-2.0
// `generate types`: writes the resource types of an environment's modules as Puppet code.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fmt/format.h>
#include <fstream>

#include "cli/command.h"
#include "cli/node_options.h"
#include "compile/compiler/ruby_types.h"
#include "compile/site/view.h"
#include "core/base/civil_time.h"
#include "core/base/plain_error.h"
#include "core/config/setting_lists.h"
#include "core/sys/clock.h"
#include "language/environment/environment.h"
#include "language/template/ruby_session.h"

namespace bunraku::cli {

namespace {

namespace fs = std::filesystem;

struct Input {
    std::string type_name;
    std::string path;
};

std::vector<Input> find_inputs(const environment::Environment& environment, base::LogSink& log) {
    log.log(base::Level::Debug,
            fmt::format("Searching environment '{}' for custom types.", environment.name()));
    std::vector<Input> out;
    for (const auto& module : environment.modules()) {
        const fs::path directory = module.path + "/lib/puppet/type";
        std::error_code error;
        if (!fs::is_directory(directory, error)) {
            log.log(base::Level::Debug,
                    fmt::format("Skipping '{}' module because there is no readable puppet/type/ "
                                "directory under: {}",
                                module.name, directory.string()));
            continue;
        }
        log.log(base::Level::Debug,
                fmt::format("Searching '{}' module for custom types.", module.name));
        for (const auto& entry : fs::directory_iterator(directory, error)) {
            if (entry.path().extension() != ".rb" || !entry.is_regular_file(error)) continue;
            log.log(base::Level::Debug,
                    fmt::format("Found custom type source file '{}'.", entry.path().string()));
            out.push_back({entry.path().stem().string(), entry.path().string()});
        }
    }
    std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.path < b.path; });
    return out;
}

/// Removes files of types that no longer exist.
void remove_stale(const fs::path& folder, const std::vector<Input>& inputs, base::LogSink& log) {
    std::vector<std::string> removed;
    std::error_code error;
    for (const auto& entry : fs::directory_iterator(folder, error)) {
        const auto name = entry.path().filename().string();
        const bool keep = std::any_of(inputs.begin(), inputs.end(), [&](const auto& input) {
            return input.type_name + ".pp" == name;
        });
        if (!keep) removed.push_back(name);
    }
    std::sort(removed.begin(), removed.end());
    for (const auto& name : removed) fs::remove(folder / name, error);
    if (!removed.empty()) {
        log.log(base::Level::Notice,
                fmt::format("Removed output '[\"{}\"]' for non existing inputs",
                            fmt::join(removed, "\", \"")));
    }
}

/// Returns true if all types were written.
bool generate(const environment::Environment& environment, bool force, base::LogSink& log) {
    const auto inputs = find_inputs(environment, log);
    const fs::path folder = environment.directory() + "/.resource_types";
    std::error_code error;
    if (fs::exists(folder, error) && !fs::is_directory(folder, error)) {
        throw base::plain_error(fmt::format(
            "The output directory '{}' exists and is not a directory", folder.string()));
    }
    fs::create_directories(folder, error);
    remove_stale(folder, inputs, log);
    if (inputs.empty()) {
        log.log(base::Level::Notice, "No custom types were found.");
        return true;
    }
    log.log(base::Level::Notice, "Generating Puppet resource types.");
    auto pool = templates::RubySession::pool_of(environment, nullptr);
    auto host = pool->take();
    bool all_well = true, up_to_date = true;
    for (const auto& input : inputs) {
        const fs::path output = folder / (input.type_name + ".pp");
        // A downgrade of a module makes the input older, so only equal times are up to date.
        const auto input_time = fs::last_write_time(input.path, error);
        if (!force && fs::exists(output, error) &&
            fs::last_write_time(output, error) == input_time) {
            log.log(base::Level::Debug,
                    fmt::format("Skipping '{}' because it is up-to-date.", input.path));
            continue;
        }
        up_to_date = false;
        log.log(base::Level::Debug,
                fmt::format("Loading custom type '{}' in '{}'.", input.type_name, input.path));
        ruby::TypeInfo info;
        try {
            info = host->load_type(input.path, input.type_name);
        } catch (const base::PuppetError& problem) {
            all_well = false;
            const bool undefined =
                problem.message().ends_with(fmt::format("was not defined in '{}'.", input.path));
            log.log(base::Level::Err,
                    undefined ? problem.message()
                              : fmt::format("Failed to load custom type '{}' from '{}': {}",
                                            input.type_name, input.path, problem.message()));
            continue;
        }
        log.log(base::Level::Notice,
                fmt::format("Generating '{}' using 'pcore' format.", output.string()));
        std::ofstream out(output, std::ios::binary | std::ios::trunc);
        out << compiler::resource_type_text(info,
                                            sys::local_text(sys::make_real_clock()->now_ns()));
        if (!out.flush()) {
            all_well = false;
            log.log(base::Level::Err, fmt::format("Failed to generate '{}'", output.string()));
            continue;
        }
        out.close();
        fs::last_write_time(output, input_time, error);
    }
    if (up_to_date) {
        log.log(base::Level::Notice, "No files were generated because all inputs were up-to-date.");
    }
    return all_well;
}

int run_generate(Invocation& invocation) {
    OptionParser options(invocation);
    std::string format = "pcore", modulepath = NodeOptions::kNotGiven;
    bool force = false;
    options.value("format", &format);
    options.flag("force", &force);
    options.value("modulepath", &modulepath);
    std::vector<std::string> words;
    if (!options.parse(&words)) return options.exit_code();
    auto sink = make_console_sink(options, Streams::Puppet);
    try {
        if (words.size() != 1 || words[0] != "types") {
            throw base::plain_error("The only target is 'types': bunraku generate types");
        }
        if (format != "pcore") {
            throw base::plain_error(
                fmt::format("'{}' is not a supported format for type generation.", format));
        }
        auto& settings = invocation.settings;
        site::NodeRequest request;
        request.sources.no_manifest = true;
        if (modulepath != NodeOptions::kNotGiven)
            request.sources.modulepath = config::split_path(modulepath);
        site::Site site(settings, site_options(*sink));
        const auto environment = site.environment(request);
        if (environment->directory().empty())
            throw base::plain_error(site::environment_missing(settings));
        return generate(*environment, force, *sink) ? 0 : 1;
    } catch (const base::PuppetError& error) {
        report_error(*sink, error, "");
        return 1;
    }
}

}  // namespace

BUNRAKU_COMMAND(generate){.name = "generate",
                          .summary = "Write Puppet code out of Ruby code.",
                          .run = run_generate,
                          .system_errors = SystemErrors::Puppet};

}  // namespace bunraku::cli
