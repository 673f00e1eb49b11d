// SPDX-License-Identifier: Apache-2.0
// The interface of subcommands. cmd_<name>.cc defines one Command, and cmd_<name>.md is its help.
// The build collects both.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compile/diagnostics/console_log.h"
#include "core/base/diagnostic.h"
#include "core/config/settings.h"

namespace bunraku::cli {

/// One run of the program, prepared for a subcommand.
struct Invocation {
    std::string program;  ///< "bunraku" or "puppet", for messages
    std::string command;  ///< name of the subcommand
    /// arguments after the subcommand's name, including settings options
    std::vector<std::string> args;
    /// settings from puppet.conf; the command applies its own --setting options
    config::Settings settings;
};

/// The form in which a command prints failed system calls.
enum class SystemErrors : std::uint8_t {
    Plain,  ///< "/x: No such file or directory"
    Puppet  ///< "No such file or directory @ rb_sysopen - /x", as Puppet's command prints it
};

struct Command {
    std::string_view name;
    std::string_view summary;            ///< one line for `bunraku help`
    int (*run)(Invocation& invocation);  ///< returns the exit code; may throw base::PuppetError
    std::string_view run_mode = "user";  ///< section of puppet.conf: user, agent or server
    std::string_view alias = {};         ///< alternative name
    SystemErrors system_errors = SystemErrors::Plain;
};

/// Defines the command of cmd_NAME.cc: BUNRAKU_COMMAND(facts){.name = "facts", ...}; The build
/// finds the file by its name and lists the command.
#define BUNRAKU_COMMAND(NAME)        \
    extern const Command cmd_##NAME; \
    const Command cmd_##NAME

/// Returns all commands, ordered by name.
std::span<const Command* const> all_commands();
/// Finds a command by name or alias. Returns null if it does not exist.
const Command* find_command(std::string_view name);
/// Reports whether the command prints failed system calls in the plain form.
bool prints_plain_system_errors(std::string_view name);
/// Returns the text of cmd_<name>.md, which the build embeds. Empty if there is none.
std::string_view command_help(std::string_view name);
inline constexpr std::string_view kVersion = BUNRAKU_VERSION;

/// Loads the settings for this run mode from puppet.conf, whose location the options may set. If it
/// cannot be parsed, prints an error and returns nullopt.
std::optional<config::Settings> load_settings(const std::vector<std::string>& args,
                                              std::string_view run_mode);

/// Returns the value of the header User-Agent of Puppet's clients.
std::string user_agent(const config::Settings& settings);

/// The whole program, called by `main`.
int run_program(int argc, char** argv);

/// Parses options: "--name VALUE", "--name=VALUE", "--flag", "--no-flag", "-e CODE". Every setting
/// is an option too. Unique prefixes of a name are accepted.
class OptionParser {
public:
    explicit OptionParser(Invocation& invocation) : invocation_(invocation) {}
    /// "--name"/"--no-name", or a single letter: "-v". Several names may share a target.
    void flag(std::string name, bool* target);
    void value(std::string name, std::string* target);
    void list(std::string name, std::vector<std::string>* target);  ///< may be repeated
    /// Parses the arguments and sets `positional`. On an invalid option, prints an error and
    /// returns false; the caller exits with 1. `--setting K=V`, `--help`, `--debug`, `--verbose`,
    /// `--log-format`, `--log-level` and `--color` are built in. For `--help`, prints the help,
    /// sets `help_requested` and returns false (see `exit_code`).
    bool parse(std::vector<std::string>* positional);

    bool help_requested = false;
    int exit_code() const { return help_requested ? 0 : 1; }
    std::string log_format = "text";
    std::optional<base::Level> log_level;
    bool explain_errors = false;  ///< true to show explanations with errors even without a terminal
    /// Returns the code given with `-e` and `--execute`, so that errors can show it.
    std::string given_code() const;
    /// Reports whether the command prints failed system calls in the plain form.
    bool plain_system_errors() const;
    /// "" means colour on a terminal only. "ansi", "true" and "yes" mean always, "html" means HTML,
    /// and any other value means never.
    std::string color;

private:
    struct Option {
        std::string name;
        bool* flag = nullptr;
        std::string* value = nullptr;
        std::vector<std::string>* list = nullptr;
        std::string setting;  ///< name of the setting that the option sets
        bool takes_value() const { return !flag && !boolean_setting; }
        bool boolean_setting = false;
    };
    bool refuse(const std::string& text);
    bool fail(const std::string& text);
    const Option* lookup(std::string_view name, bool* ambiguous) const;
    bool apply(const Option& option, std::string_view value, bool negated);
    bool parse_long(std::string_view text, std::size_t* index);
    bool parse_short(std::string_view text, std::size_t* index);
    void add_builtins();
    // The steps of parse(). Each returns false after printing an error.
    bool parse_words(std::vector<std::string>* positional);
    bool apply_settings();
    bool read_log_options();

    Invocation& invocation_;
    std::vector<Option> options_;
    std::vector<std::string> setting_pairs_;
    std::string level_text_;
    bool debug_ = false, verbose_ = false;
};

using diagnostics::Streams;

/// Returns the log sink of a command: JSON lines on stderr, or Puppet's console format
/// ("Warning: ..."), coloured on a terminal, with the source line below errors.
std::unique_ptr<base::LogSink> make_console_sink(const OptionParser& options,
                                                 Streams streams = Streams::Errors);
using diagnostics::report_error;

}  // namespace bunraku::cli
