// How a subcommand is written: cmd_<name>.cc defines one Command, cmd_<name>.md is its help; the
// build lists both.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/config/settings.h"
#include "core/config/version.h"

namespace bunraku::cli {

/// One run of the program, ready for a subcommand.
struct Invocation {
    std::string program;            ///< "bunraku" or "puppet", for messages
    std::string command;            ///< the subcommand's name
    std::vector<std::string> args;  ///< behind the subcommand's name, settings options included
    config::Settings settings;  ///< puppet.conf read; the command applies its own --setting options
};

struct Command {
    std::string_view name;
    std::string_view summary;            ///< one line for `bunraku help`
    int (*run)(Invocation& invocation);  ///< gives the exit code; may throw base::PuppetError
    std::string_view run_mode = "user";  ///< the section of puppet.conf: user, agent or server
    std::string_view alias = {};         ///< another name
};

/// Defines the command of cmd_NAME.cc: BUNRAKU_COMMAND(facts){.name = "facts", ...}; The build
/// finds the file by its name and lists the command.
#define BUNRAKU_COMMAND(NAME)        \
    extern const Command cmd_##NAME; \
    const Command cmd_##NAME

/// All commands, by name.
std::span<const Command* const> all_commands();
/// By name or alias; null where there is none.
const Command* find_command(std::string_view name);
/// The text of cmd_<name>.md, embedded by the build; empty where there is none.
std::string_view command_help(std::string_view name);
using config::kPuppetVersion;
inline constexpr std::string_view kVersion = BUNRAKU_VERSION;

/// Settings as puppet.conf has them for this run mode, where the options say it is; nullopt where
/// it cannot be parsed, which is told on standard error.
std::optional<config::Settings> load_settings(const std::vector<std::string>& args,
                                              std::string_view run_mode);

/// The whole program behind `main`.
int run_program(int argc, char** argv);

/// Parses options: "--name VALUE", "--name=VALUE", "--flag", "--no-flag", "-e CODE". Every setting
/// is an option too. Unique beginnings of a name will do.
class OptionParser {
public:
    explicit OptionParser(Invocation& invocation) : invocation_(invocation) {}
    /// "--name"/"--no-name"; one letter: "-v". Several names may share a target.
    void flag(std::string name, bool* target);
    void value(std::string name, std::string* target);
    void list(std::string name, std::vector<std::string>* target);  ///< repeated
    /// Consumes args; positional ones come back. On a bad option prints to stderr and gives false:
    /// exit with 1. `--setting K=V`, `--help`, `--debug`, `--verbose`, `--log-format`,
    /// `--log-level`, `--color` are built in.
    /// Where help was asked it is printed, `help_requested` is set and false comes back: see
    /// `exit_code`.
    bool parse(std::vector<std::string>* positional);

    bool help_requested = false;
    int exit_code() const { return help_requested ? 0 : 1; }
    std::string log_format = "text";
    std::optional<base::Level> log_level;
    bool explain_errors = false;  ///< errors say more than their text, terminal or not
    /// What `-e` and `--execute` say, so that errors may show it.
    std::string given_code() const;
    std::string color;  ///< "": by the terminal; "ansi", "true", "yes": always; "html"; else none

private:
    struct Option {
        std::string name;
        bool* flag = nullptr;
        std::string* value = nullptr;
        std::vector<std::string>* list = nullptr;
        std::string setting;  ///< sets this setting
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

    Invocation& invocation_;
    std::vector<Option> options_;
    std::vector<std::string> setting_pairs_;
    std::string level_text_;
    bool debug_ = false, verbose_ = false;
};

/// Which stream a record of the console goes to.
enum class Streams : std::uint8_t {
    Errors,  ///< all on stderr: stdout belongs to the result
    Puppet   ///< debug, info and notice on stdout, as `puppet apply` does
};

/// The sink of a command: JSON lines on stderr, or Puppet's console form ("Warning: ...", coloured
/// on a terminal, with the source line under errors).
std::unique_ptr<base::LogSink> make_console_sink(const OptionParser& options,
                                                 Streams streams = Streams::Errors);
/// Logs the error of a failed command as the last line: "Error: TEXT" or JSON; `suffix` is " on
/// node NAME" or "".
void report_error(base::LogSink& sink, const base::PuppetError& error, std::string_view suffix,
                  std::string_view prefix = {});

}  // namespace bunraku::cli
