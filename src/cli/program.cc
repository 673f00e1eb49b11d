// SPDX-License-Identifier: Apache-2.0
// The entry point: selects the subcommand, loads puppet.conf, shows help, and catches remaining
// exceptions.
#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <exception>
#include <fcntl.h>
#include <fmt/format.h>
#include <new>
#include <poll.h>
#include <sys/statvfs.h>
#include <system_error>
#include <unistd.h>

#include "cli/command.h"
#include "cli/facter.h"
#include "cli/lint_arguments.h"
#include "cli/overview.h"
#include "compile/diagnostics/explain_codes.h"
#include "compile/reference/compatibility_page.h"
#include "compile/reference/help_page.h"
#include "compile/reference/help_text.h"
#include "core/base/did_you_mean.h"
#include "core/config/file_options.h"
#include "core/sys/disk.h"
#include "core/sys/file_system.h"
#include "core/sys/signals.h"
#include "core/sys/wording.h"

namespace bunraku::cli {

namespace {

void print_overview(const std::string& program) {
    fmt::print("{}", reference::for_terminal(overview(program)));
}

/// Finds an option before the command parses its options, because puppet.conf is read earlier and
/// these options determine its location.
std::optional<std::string> early_option(const std::vector<std::string>& args,
                                        std::string_view name) {
    std::optional<std::string> found;
    for (std::size_t i = 0; i < args.size(); ++i) {
        std::string_view a = args[i];
        if (a == "--") break;
        if (!a.starts_with("--")) continue;
        a.remove_prefix(2);
        if (a == name && i + 1 < args.size()) {
            found = args[i + 1];
        } else if (a.starts_with(name) && a.size() > name.size() && a[name.size()] == '=') {
            found = std::string(a.substr(name.size() + 1));
        }
    }
    return found;
}

/// Returns settings that only determine the location of the configuration, before any file is read.
config::Settings located_settings(const std::vector<std::string>& args) {
    auto settings = config::Settings::defaults();
    for (std::string_view name : {"confdir", "config"}) {
        if (auto value = early_option(args, name)) settings.set(std::string(name), *value);
    }
    return settings;
}

/// Returns the compatibility level of the command line or puppet.conf. Ignores all errors, because
/// the program's version does not depend on a valid configuration.
config::Compatibility configured_level(const std::vector<std::string>& args) {
    auto settings = located_settings(args);
    (void)settings.load_file(settings.text("config"), "user");
    if (auto value = early_option(args, "compatibility"))
        settings.set("compatibility", std::move(*value));
    return settings.compatibility();
}

int unknown_command(const std::string& program, std::string_view name) {
    std::vector<std::string> names;
    for (const Command* command : all_commands()) names.emplace_back(command->name);
    const bool old = !config::changed(configured_level({}), config::Change::Subcommand);
    fmt::print(stderr,
               "Error: Unknown {}subcommand '{}'\n"
               "See '{} help' for help on available {}subcommands\n{}",
               old ? "Puppet " : "", name, program, old ? "puppet " : "",
               base::did_you_mean(name, names));
    return 1;
}

/// Returns a suggestion if the word after a subcommand is not one of its actions.
std::string mistyped_action(const std::vector<std::string>& args) {
    if (args.size() < 2 || args[1].starts_with("-")) return {};
    const Command* command = find_command(args[0]);
    if (!command) return {};
    std::vector<std::string> names;
    for (const auto& action :
         reference::help_actions(reference::parse_help(command_help(command->name)), command->name))
        names.push_back(action.name);
    return std::ranges::find(names, args[1]) == names.end() ? base::did_you_mean(args[1], names)
                                                            : std::string();
}

int show_help(const std::string& program, const std::vector<std::string>& args) {
    if (args.size() == 2 && args[0] == "--man") {
        write_manual(args[1]);
        return 0;
    }
    if (!args.empty() && args[0] == "--errors") {
        fmt::print("{}", diagnostics::issue_page());
        return 0;
    }
    if (!args.empty() && args[0] == "--compatibility") {
        fmt::print("{}", reference::compatibility_page());
        return 0;
    }
    if (!args.empty() && args[0] == "--json") {
        fmt::print("{}", overview_json());
        return 0;
    }
    if (args.empty() || args[0].starts_with("-")) {
        print_overview(program);
        return 0;
    }
    if (args[0] == "help") return show_help(program, {});
    const Command* command = find_command(args[0]);
    if (!command) return unknown_command(program, args[0]);
    std::string text = reference::help_text(command_help(command->name));
    if (args.size() > 1 && !args[1].starts_with("-")) {
        text = reference::action_help(command_help(command->name), command->name, args[1]);
        if (text.empty()) {
            fmt::print(stderr, "Error: '{}' has no '{}' action.  See `{} help {}`.\n{}", args[0],
                       args[1], program, args[0], mistyped_action(args));
            return 1;
        }
    }
    if (text.empty()) text = fmt::format("{} {}: {}\n", program, command->name, command->summary);
    text = reference::for_terminal(std::move(text));
    std::fwrite(text.data(), 1, text.size(), stdout);
    return 0;
}

int run_command(const std::string& program, const Command& command, std::vector<std::string> args) {
    auto settings = load_settings(args, command.run_mode);
    if (!settings) {
        // The command `config` may repair it.
        if (command.name != "config") return 1;
        settings = located_settings(args);
    }
    Invocation invocation{.program = program,
                          .command = std::string(command.name),
                          .args = std::move(args),
                          .settings = std::move(*settings)};
    return command.run(invocation);
}

int dispatch(const std::string& program, std::vector<std::string> args) {
    if (args.empty()) {
        if (program == "puppet") {
            const bool old = !config::changed(configured_level({}), config::Change::Subcommand);
            fmt::print("See '{} help' for help on available {}subcommands\n", program,
                       old ? "puppet " : "");
        } else {
            print_overview(program);
        }
        return 0;
    }
    std::string first = args[0];
    args.erase(args.begin());
    if (first == "--version" || first == "-V" || first == "version") {
        // Other tools compare the output of `puppet --version` with Puppet's versions.
        const bool json = std::ranges::find(args, "--json") != args.end() ||
                          (args.size() == 2 && args[0] == "-o" && args[1] == "json");
        const VersionOutput output = std::ranges::find(args, "--verbose") != args.end()
                                         ? VersionOutput::Verbose
                                         : VersionOutput::Short;
        const config::Compatibility level = configured_level(args);
        if (json) {
            fmt::print("{}", version_json(level, output));
        } else if (program == "puppet") {
            fmt::print("{}\n", config::puppet_version(level));
        } else {
            fmt::print("{}", version_text(level, output));
        }
        return 0;
    }
    if (first == "help" || first == "--help" || first == "-h") return show_help(program, args);
    // Its options are those of Facter, and Puppet's settings do not apply.
    if (first == "facter") return run_facter(args);
    // The same holds for puppet-lint, whose --config is not puppet.conf.
    if (first == "lint") return run_lint(LintProgram::Bunraku, args);
    const Command* command = find_command(first);
    if (!command) return unknown_command(program, first);
    return run_command(program, *command, std::move(args));
}

/// Exit code if the reader of the output has closed the pipe (`| head`). The program ends silently,
/// as if by the signal.
constexpr int kReaderGone = 128 + SIGPIPE;

/// Opens closed standard streams on a null device. Otherwise the first opened file would get the
/// descriptor and receive the output. Reads return the end of file, and writes fail.
void keep_standard_streams() {
    for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; ++fd) {
        if (::fcntl(fd, F_GETFD) < 0 && errno == EBADF) {
            (void)::open("/dev/null", fd == STDERR_FILENO ? O_WRONLY : O_RDONLY);
        }
    }
}

/// Returns the text of an error that ends the program.
std::string shown_text(const std::vector<std::string>& args, const base::PuppetError& error) {
    const bool plain = !args.empty() && prints_plain_system_errors(args[0]) &&
                       error.error_class() == base::PuppetError::Class::Plain && !error.located();
    return plain ? sys::plain_text(error.full_text()) : error.full_text();
}

bool is_pipe_closed(int fd) {
    pollfd poll{.fd = fd, .events = POLLOUT, .revents = 0};
    return ::poll(&poll, 1, 0) == 1 && (poll.revents & POLLERR) != 0;
}

/// Flushes the output. If that fails, the program fails and prints an error here, for all commands.
int finish_output(int code) {
    errno = 0;
    if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0) return code;
    int error = errno;
    // The reason of an earlier failure is not available any more, but a full disk can still be
    // detected.
    if (struct statvfs disk{}; error == 0 && ::fstatvfs(STDOUT_FILENO, &disk) == 0 &&
                               disk.f_blocks > 0 && disk.f_bavail == 0)
        error = ENOSPC;
    if (error == EPIPE || is_pipe_closed(STDOUT_FILENO)) return kReaderGone;
    fmt::print(stderr, "Error: Could not write to standard output{}{}\n", error ? ": " : "",
               error ? std::strerror(error) : "");
    return code == 0 ? 1 : code;
}

/// Prints what Puppet logs about puppet.conf when it reads it.
void print_remarks(const config::Settings& settings, std::string_view run_mode) {
    const auto text = sys::disk().read(settings.text("config"));
    if (!text) return;
    for (const auto& remark : config::conf_remarks(*text, run_mode, settings.compatibility())) {
        fmt::print(stderr, "{}: {}\n", remark.level == base::Level::Notice ? "Notice" : "Warning",
                   remark.text);
    }
}

}  // namespace

std::optional<config::Settings> load_settings(const std::vector<std::string>& args,
                                              std::string_view run_mode) {
    auto settings = located_settings(args);
    if (auto loaded = settings.load_file(settings.text("config"), run_mode); !loaded) {
        fmt::print(stderr, "Error: Could not parse {}: {}\n", settings.text("config"),
                   loaded.error().message);
        return std::nullopt;
    }
    print_remarks(settings, run_mode);
    return settings;
}

std::string user_agent(const config::Settings& settings) {
    return fmt::format("Puppet/{} Bunraku/{}", config::puppet_version(settings.compatibility()),
                       kVersion);
}

int run_program(int argc, char** argv) {
    keep_standard_streams();
    sys::ignore_broken_pipes();
    std::string program(sys::base_name(argc > 0 ? argv[0] : "bunraku"));
    const bool facter = program == "facter", linter = program == "puppet-lint";
    if (program != "puppet") program = "bunraku";
    std::vector<std::string> args(argv + (argc > 0 ? 1 : 0), argv + argc);
    const std::vector<std::string> given = facter || linter ? std::vector<std::string>() : args;
    int code = 1;
    try {
        code = facter   ? run_facter(args)
               : linter ? run_lint(LintProgram::PuppetLint, args)
                        : dispatch(program, std::move(args));
    } catch (const base::PuppetError& e) {
        std::fprintf(stderr, "Error: %s\n", shown_text(given, e).c_str());
    } catch (const std::bad_alloc&) {
        std::fputs("Error: Out of memory\n", stderr);
    } catch (const std::system_error& e) {
        if (e.code().value() == EPIPE) return kReaderGone;
        // An error of standard output is reported below.
        if (std::ferror(stdout) == 0) std::fprintf(stderr, "Error: %s\n", e.what());
    } catch (const std::exception& e) {
        std::fprintf(stderr, "Error: %s\n", e.what());
    }
    if (code != 0) fmt::print(stderr, "{}", mistyped_action(given));
    return finish_output(code);
}

}  // namespace bunraku::cli
