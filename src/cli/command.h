// How a subcommand is written: cmd_<name>.cc defines one Command; commands.cc lists them;
// cmd_<name>.md is its help.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "config/settings.h"

namespace bunraku::cli {

/// One run of the program, ready for a subcommand.
struct Invocation {
    std::string program;            ///< "bunraku" or "puppet", for messages
    std::vector<std::string> args;  ///< behind the subcommand's name, settings options included
    config::Settings settings;  ///< puppet.conf read; the command applies its own --setting options
};

struct Command {
    std::string_view name;
    std::string_view summary;
    std::string_view help;  ///< text of cmd_<name>.md, embedded by the build
    int (*run)(Invocation& invocation);
};

std::span<const Command* const> all_commands();
const Command* find_command(std::string_view name);

/// Parses options: "--name VALUE", "--name=VALUE", "--flag", "--no-flag", "-e CODE". Every setting
/// is an option too.
class OptionParser {
public:
    explicit OptionParser(Invocation& invocation) : invocation_(invocation) {}
    void flag(std::string name, bool* target);  ///< "--name"/"--no-name"; "v" for one letter
    void value(std::string name, std::string* target);
    void list(std::string name, std::vector<std::string>* target);  ///< repeated
    /// Consumes args; positional ones come back. On a bad option prints to stderr and gives false.
    /// `--setting K=V`,
    /// `--help`, `--debug`, `--verbose`, `--log-format`, `--log-level`, `--color` are built in.
    bool parse(std::vector<std::string>* positional);

    bool help_requested = false;
    std::string log_format = "text";
    std::optional<base::Level> log_level;

private:
    Invocation& invocation_;
    struct Option {
        std::string name;
        bool* flag = nullptr;
        std::string* value = nullptr;
        std::vector<std::string>* list = nullptr;
    };
    std::vector<Option> options_;
};

/// The sink for stderr: JSON lines or Puppet's console form ("Warning: ...", coloured on a
/// terminal, with the source line under errors).
std::unique_ptr<base::LogSink> make_console_sink(const OptionParser& options);
/// Logs the error of a failed command as the last line: "Error: TEXT" or JSON; `suffix` is " on
/// node NAME" or "".
void report_error(base::LogSink& sink, const base::PuppetError& error, std::string_view suffix);

}  // namespace bunraku::cli
