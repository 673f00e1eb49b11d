// SPDX-License-Identifier: Apache-2.0
#include "services/server/autosign.h"

#include <algorithm>
#include <fmt/format.h>
#include <unistd.h>

#include "core/base/text.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"

namespace bunraku::server {

using base::Level;

namespace {

constexpr std::chrono::minutes kProgramTime{5};

/// Matches the labels after the star, so that "*.b.example" matches "a.b.example".
bool glob_matches(std::string_view glob, std::string_view name) {
    const std::string small_glob = base::lower(glob), small_name = base::lower(name);
    auto wanted = base::split(small_glob, '.');
    auto given = base::split(small_name, '.');
    wanted.erase(wanted.begin());
    return given.size() >= wanted.size() &&
           std::equal(wanted.rbegin(), wanted.rend(), given.rbegin());
}

}  // namespace

bool autosign_list_has(std::string_view text, const std::string& name, const std::string& path,
                       base::LogSink& log) {
    for (std::string_view line : base::lines(text)) {
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.starts_with('#') || base::trim(line).empty()) continue;
        if (line.find('#') != std::string_view::npos || line.find(' ') != std::string_view::npos) {
            log.log(Level::Err, fmt::format("Invalid pattern '{}' found in {}", line, path));
            continue;
        }
        if (line == "*" || (line.starts_with('*') ? glob_matches(line, name) : line == name))
            return true;
    }
    return false;
}

bool autosign_is_program(const std::string& setting) {
    return setting.starts_with('/') && sys::disk().is_file(setting) &&
           sys::disk().access(setting, X_OK);
}

bool autosigns(const std::string& setting, const std::string& name, const pki::Request& request,
               sys::Processes& processes, base::LogSink& log) {
    if (setting == "true") return true;
    if (!setting.starts_with('/')) return false;
    if (!autosign_is_program(setting)) {
        auto text = sys::disk().read(setting);
        return text && autosign_list_has(*text, name, setting, log);
    }
    sys::Command command;
    command.argv = {setting, name};
    command.input = request.pem();
    command.timeout = kProgramTime;
    log.log(Level::Debug, fmt::format("Executing '{} {}'", setting, name));
    auto outcome = processes.run(command);
    if (!outcome) {
        log.log(Level::Err, fmt::format("The autosign program '{}' could not be started: {}",
                                        setting, outcome.error().message));
        return false;
    }
    if (!outcome->errors.empty()) {
        log.log(Level::Warning, fmt::format("Autosign command '{} {}' generated output to stderr: "
                                            "{}",
                                            setting, name, outcome->errors));
    }
    if (outcome->timed_out) {
        log.log(Level::Warning, fmt::format("Autosign command '{}' rejected certificate '{}' "
                                            "because it did not end in time",
                                            setting, name));
    } else if (outcome->status != 0) {
        log.log(Level::Warning, fmt::format("Autosign command '{}' rejected certificate '{}' "
                                            "because the exit code was {}, not zero",
                                            setting, name, outcome->status));
    }
    return outcome->ok();
}

}  // namespace bunraku::server
