// SPDX-License-Identifier: Apache-2.0
// Code shared by all service providers.
#include "resources/apply/types/service/service_provider.h"

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/regex/regex.h"

namespace bunraku::apply {

using base::PuppetError;

std::string chomped(std::string text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) text.pop_back();
    return text;
}

Executed ServiceProvider::run(std::string_view what, bool fail_on_error) {
    Execute o;
    o.fail_on_error = fail_on_error;
    o.override_locale = false;
    o.query = what == "status";
    try {
        if (Value given = resource_.get(what); !given.is_undef()) {
            return execute_line(context_, plain(given), o);
        }
        return execute(context_, own_command(what), o);
    } catch (const PuppetError& e) {
        if (e.issue_code() != "EXECUTION_FAILURE") throw;
        throw PuppetError(fmt::format("Could not {} {}: {}", what, resource_.ref(), e.message()));
    }
}

bool ServiceProvider::has_command_for(std::string_view what) {
    return !resource_.get(what).is_undef() || !own_command(what).empty();
}

bool ServiceProvider::running() {
    if (has_command_for("status")) return run("status", false).status == 0;
    return !find_pid().empty();
}

std::string ServiceProvider::find_pid() {
    std::string pattern = resource_.text("pattern");
    if (pattern.empty())
        resource_.fail("Either stop/status commands or a pattern must be specified");
    auto re = regex::Regex::cached(pattern);
    if (!re) throw PuppetError(re.error().message);
    resource_.provider_debug("Executing 'ps -ef'");
    std::string table = execute(context_, {"ps", "-ef"}).output;
    for (const std::string_view line : base::lines(table)) {
        if (!(*re)->matches(line)) continue;
        resource_.provider_debug(fmt::format("Process matched: {}", line));
        const auto words = base::words(line);
        if (words.size() < 2) continue;
        std::string out(words[1]);
        resource_.provider_debug(fmt::format("PID is {}", out));
        return out;
    }
    return {};
}

void ServiceProvider::start() { run("start", true); }

void ServiceProvider::stop() {
    if (has_command_for("stop")) {
        run("stop", true);
        return;
    }
    const std::string pid = find_pid();
    if (pid.empty()) {
        resource_.info(fmt::format("{} is not running", name()));
        return;
    }
    try {
        execute(context_, {command_path(context_, "kill"), pid});
    } catch (const PuppetError&) {
        resource_.fail(fmt::format("Could not kill {}, PID {}: ", name(), pid));
    }
}

void ServiceProvider::restart() {
    if (has_command_for("restart")) {
        run("restart", true);
    } else {
        stop();
        start();
    }
}

}  // namespace bunraku::apply
