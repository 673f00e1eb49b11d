// SPDX-License-Identifier: Apache-2.0
#include "resources/apply/execution.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <limits>

#include "core/base/assert.h"
#include "core/base/number.h"
#include "core/base/redacted.h"
#include "core/base/shown_url.h"
#include "core/base/text.h"
#include "resources/apply/ruby_text.h"

namespace bunraku::apply {

using base::PuppetError;

namespace {

// Words that make Ruby pass a command line to the shell.
constexpr std::string_view kShellWords[] = {
    "!",      ".",    ":",     "break", "case",   "continue", "do",    "done",  "elif", "else",
    "esac",   "eval", "exec",  "exit",  "export", "fi",       "for",   "if",    "in",   "readonly",
    "return", "set",  "shift", "then",  "times",  "trap",     "unset", "until", "while"};

bool needs_shell(std::string_view line) {
    const auto words = base::words(line);
    if (words.empty()) return true;
    const std::string_view first = words[0];
    if (line.find_first_of("*?{}[]<>()~&|\\$;'`\"\n#") != std::string_view::npos) return true;
    std::size_t equals = first.find('=');
    if (equals != std::string_view::npos && first.find('/') > equals) return true;
    return std::find(std::begin(kShellWords), std::end(kShellWords), first) !=
           std::end(kShellWords);
}

bool digits(std::string_view s) {
    return !s.empty() &&
           std::all_of(s.begin(), s.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Returns how a request to stop the run affects a running command, and logs each request once.
sys::Stop stop_command(Context& context, bool interruptible, int* reported) {
    const StopRequest stop = context.stop_request();
    if (!stop) return sys::Stop::No;
    const bool now = interruptible || stop.times > 1;
    BUNRAKU_ASSERT(*reported >= 0);
    if (*reported < stop.times) {
        *reported = stop.times;
        const std::string what = context.current ? context.current->to_s() : "a command";
        context.message(
            Level::Notice,
            now ? fmt::format("Caught {}; stopping {}", signal_name(stop.signal), what)
                : fmt::format("Caught {}; finishing {}. Send the signal again to stop it",
                              signal_name(stop.signal), what));
    }
    return !now ? sys::Stop::No : stop.times > 1 ? sys::Stop::Kill : sys::Stop::Ask;
}

// Parses the id of a user or group. Throws Ruby's error message if the text is not an id.
std::uint32_t system_id(std::string_view text, std::string_view what) {
    const auto id = base::parse_integer<std::int64_t>(text);
    if (!id || *id < 0) throw PuppetError(fmt::format("Invalid {}: {}", what, text));
    if (*id > std::numeric_limits<std::uint32_t>::max()) {
        throw PuppetError(fmt::format("integer {} too big to convert to `unsigned int'", *id));
    }
    return static_cast<std::uint32_t>(*id);
}

// Sets the user and group of the command. Throws if the user or group does not exist.
void set_identity(sys::Users& users, const Execute& o, sys::Command& command) {
    if (o.user) {
        std::optional<sys::User> user;
        if (digits(*o.user)) {
            const std::uint32_t uid = system_id(*o.user, "user");
            user = users.user(uid);
            // setuid(-1) would not change the user, so the command would run as root.
            if (!user) {
                throw PuppetError(
                    fmt::format("can't find user for {}", static_cast<std::int32_t>(uid)));
            }
        } else {
            user = users.user(*o.user);
            if (!user) throw PuppetError(fmt::format("Invalid user: {}", *o.user));
        }
        command.uid = user->uid;
        command.gid = command.own_gid = user->gid;
        command.user_name = user->name;
    }
    if (o.group) {
        if (digits(*o.group)) {
            command.gid = system_id(*o.group, "group");
        } else {
            auto group = users.group(*o.group);
            if (!group) throw PuppetError(fmt::format("Invalid group: {}", *o.group));
            command.gid = group->gid;
        }
        if (*command.gid == std::numeric_limits<std::uint32_t>::max()) command.gid.reset();
    }
}

Executed run(Context& context, std::vector<std::string> argv, const std::string& shown,
             const Execute& o) {
    std::string text = base::redacted_if(o.sensitive, shown);
    if (!o.query) ++context.actions;
    if (context.enabled(Level::Debug)) {
        std::string who;
        if (o.user) who += " uid=" + *o.user;
        if (o.group) who += " gid=" + *o.group;
        context.message(Level::Debug,
                        fmt::format("Executing{}: '{}'", who.empty() ? "" : " with" + who, text));
    }
    if (!o.cwd.empty() && !context.system.files.is_directory(o.cwd)) {
        ruby_error(fmt::format("Working directory {} does not exist!", o.cwd));
    }
    sys::Command command;
    command.argv = std::move(argv);
    command.cwd = o.cwd;
    command.merge_errors = o.combine;
    command.umask = o.umask;
    command.input = o.input;
    command.search_path = o.search_path;
    if (o.override_locale) {
        for (const char* name : {"LC_MESSAGES", "LANGUAGE", "LC_COLLATE", "LC_CTYPE", "LC_MONETARY",
                                 "LC_NUMERIC", "LC_TIME"}) {
            command.environment.emplace_back(name, std::nullopt);
        }
        command.environment.emplace_back("LANG", "C");
        command.environment.emplace_back("LC_ALL", "C");
    }
    for (const char* name : {"HOME", "USER", "LOGNAME"}) {
        command.environment.emplace_back(name, std::nullopt);
    }
    for (const auto& e : o.environment) command.environment.push_back(e);
    for (const auto& [name, v] : context.command_environment)
        command.environment.emplace_back(name, v);
    if (o.timeout_seconds > 0) {
        command.timeout = std::chrono::milliseconds(
            static_cast<std::int64_t>(std::min(o.timeout_seconds, 1e9) * 1000));
    }
    Executed out;
    int reported = 0;
    command.stop = [&] { return stop_command(context, o.interruptible, &reported); };
    base::Result<sys::Outcome> outcome = base::failure("");
    try {
        set_identity(context.system.users, o, command);
        outcome = context.system.processes.run(command);
    } catch (const PuppetError& e) {
        // In Puppet the child process detects this, prints the error and fails.
        outcome = base::failure(e.message());
    }
    if (!outcome) {
        out.status = 1;
        out.output =
            fmt::format("Error: Could not execute posix command: {}\n", outcome.error().message);
    } else {
        out.status = outcome->status;
        out.signal = outcome->signal;
        out.timed_out = outcome->timed_out;
        if (outcome->stopped) throw Stopped(context.stop_request().signal);
        out.output = std::move(outcome->output);
        out.errors = std::move(outcome->errors);
    }
    if (o.fail_on_error && out.status != 0) {
        throw PuppetError(fmt::format("Execution of '{}' returned {}: {}", base::shown_text(text),
                                      out.status_text(), base::trim(out.output)),
                          "EXECUTION_FAILURE");
    }
    return out;
}

}  // namespace

Executed execute(Context& context, const std::vector<std::string>& argv, const Execute& options) {
    return run(context, argv, fmt::format("{}", fmt::join(argv, " ")), options);
}

Executed execute_line(Context& context, const std::string& line, const Execute& options) {
    std::vector<std::string> argv = needs_shell(line)
                                        ? std::vector<std::string>{"/bin/sh", "-c", line}
                                        : base::texts(base::words(line));
    BUNRAKU_ASSERT(!argv.empty());
    return run(context, std::move(argv), line, options);
}

void warn_of_empty_setting(const Resource& resource, const std::string& name) {
    Context& context = resource.context();
    if (!context.warned_once.insert("empty_env_var_" + name).second) return;
    const std::string location = base::format_location({resource.file(), resource.line(), 0});
    base::Diagnostic d;
    d.level = Level::Warning;
    d.message =
        resource.redact(fmt::format("Empty environment setting '{}'\n   {}", name,
                                    location.empty() ? "(file & line not available)" : location));
    context.log.log(d);
}

void pause(Context& context, std::int64_t ns) {
    constexpr std::int64_t kStep = 50'000'000;
    while (ns > 0) {
        if (StopRequest stop = context.stop_request()) throw Stopped(stop.signal);
        const std::int64_t step = context.stop ? std::min(ns, kStep) : ns;
        BUNRAKU_ASSERT(step > 0 && step <= ns);
        context.system.clock.sleep_ns(step);
        ns -= step;
    }
}

std::string difference(Context& context, const std::string& before, const std::string& after) {
    if (context.options.diff.empty()) return {};
    std::vector<std::string> argv{context.options.diff};
    for (std::string_view arg : base::words(context.options.diff_args, " ")) argv.emplace_back(arg);
    argv.insert(argv.end(), {before, after});
    try {
        return execute(context, argv, {.fail_on_error = false, .combine = false}).output;
    } catch (const PuppetError& e) {
        return e.message();
    }
}

bool has_command(Context& context, std::string_view name) {
    return context.system.processes.which(name).has_value();
}

std::string command_path(Context& context, std::string_view name) {
    auto path = context.system.processes.which(name);
    if (!path) throw PuppetError(fmt::format("Command {} is missing", name));
    return *path;
}

}  // namespace bunraku::apply
