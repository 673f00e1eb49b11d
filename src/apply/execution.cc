#include "apply/execution.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

#include "base/words.h"

namespace bunraku::apply {

using base::PuppetError;

namespace {

// Words after which Ruby leaves a command line to the shell.
constexpr std::string_view kShellWords[] = {
    "!",      ".",    ":",     "break", "case",   "continue", "do",    "done",  "elif", "else",
    "esac",   "eval", "exec",  "exit",  "export", "fi",       "for",   "if",    "in",   "readonly",
    "return", "set",  "shift", "then",  "times",  "trap",     "unset", "until", "while"};

bool needs_shell(std::string_view line) {
    std::size_t begin = line.find_first_not_of(" \t");
    if (begin == std::string_view::npos) return true;
    std::size_t end = line.find_first_of(" \t", begin);
    std::string_view first = line.substr(begin, end == std::string_view::npos ? end : end - begin);
    if (line.find_first_of("*?{}[]<>()~&|\\$;'`\"\n#") != std::string_view::npos) return true;
    std::size_t equals = first.find('=');
    if (equals != std::string_view::npos && first.find('/') > equals) return true;
    return std::find(std::begin(kShellWords), std::end(kShellWords), first) !=
           std::end(kShellWords);
}

std::vector<std::string> words_of(std::string_view line) {
    auto words = base::words(line);
    return {words.begin(), words.end()};
}

bool digits(std::string_view s) {
    return !s.empty() &&
           std::all_of(s.begin(), s.end(), [](char c) { return c >= '0' && c <= '9'; });
}

Executed run(Context& context, std::vector<std::string> argv, const std::string& shown,
             const Execute& o) {
    std::string text = o.sensitive ? "[redacted]" : shown;
    if (context.enabled(Level::Debug)) {
        std::string who;
        if (o.user) who += " uid=" + *o.user;
        if (o.group) who += " gid=" + *o.group;
        context.message(Level::Debug,
                        fmt::format("Executing{}: '{}'", who.empty() ? "" : " with" + who, text));
    }
    if (!o.cwd.empty() && !context.system.files.is_directory(o.cwd)) {
        throw PuppetError(fmt::format("Working directory {} does not exist!", o.cwd));
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
    if (o.timeout_seconds > 0) {
        command.timeout =
            std::chrono::milliseconds(static_cast<std::int64_t>(o.timeout_seconds * 1000));
    }
    sys::Users& users = context.system.users;
    if (o.user) {
        std::optional<sys::User> user;
        if (digits(*o.user)) {
            command.uid = static_cast<std::uint32_t>(std::stoul(*o.user));
            user = users.user(*command.uid);
        } else {
            user = users.user(*o.user);
            if (!user) throw PuppetError(fmt::format("Invalid uid: {}", *o.user));
            command.uid = user->uid;
        }
        if (user) {
            command.gid = user->gid;
            command.user_name = user->name;
        }
    }
    if (o.group) {
        if (digits(*o.group)) {
            command.gid = static_cast<std::uint32_t>(std::stoul(*o.group));
        } else {
            auto group = users.group(*o.group);
            if (!group) throw PuppetError(fmt::format("Invalid gid: {}", *o.group));
            command.gid = group->gid;
        }
    }
    auto outcome = context.system.processes.run(command);
    Executed out;
    if (!outcome) {
        out.status = 1;
        out.output = fmt::format("Could not execute posix command: {}", outcome.error().message);
        context.message(Level::Err, out.output);
    } else {
        out.status = outcome->status;
        out.timed_out = outcome->timed_out;
        out.output = std::move(outcome->output);
    }
    if (o.fail_on_error && out.status != 0) {
        std::string trimmed = out.output;
        while (!trimmed.empty() && std::isspace(static_cast<unsigned char>(trimmed.back()))) {
            trimmed.pop_back();
        }
        std::size_t lead = 0;
        while (lead < trimmed.size() && std::isspace(static_cast<unsigned char>(trimmed[lead]))) {
            ++lead;
        }
        throw PuppetError(fmt::format("Execution of '{}' returned {}: {}", text, out.status,
                                      trimmed.substr(lead)),
                          "EXECUTION_FAILURE");
    }
    return out;
}

}  // namespace

Executed execute(Context& context, const std::vector<std::string>& argv, const Execute& options) {
    return run(context, argv, fmt::format("{}", fmt::join(argv, " ")), options);
}

Executed execute_line(Context& context, const std::string& line, const Execute& options) {
    std::vector<std::string> argv =
        needs_shell(line) ? std::vector<std::string>{"/bin/sh", "-c", line} : words_of(line);
    return run(context, std::move(argv), line, options);
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
