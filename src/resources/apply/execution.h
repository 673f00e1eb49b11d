// SPDX-License-Identifier: Apache-2.0
// Runs commands as Puppet's providers do: by argument vector, with its debug lines and errors.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "resources/apply/resource.h"

namespace bunraku::apply {

struct Execute {
    bool fail_on_error = true;
    bool combine = true;          ///< merge standard error into the output
    bool override_locale = true;  ///< set LANG=C
    bool sensitive = false;
    std::string cwd;
    std::optional<std::string> user, group;  ///< names or numeric ids
    std::vector<std::pair<std::string, std::optional<std::string>>> environment;
    std::optional<std::uint32_t> umask;
    double timeout_seconds = 0;  ///< 0 means no timeout
    std::string input;
    std::string search_path;
    /// If true, the first request to stop the run ends the command. Otherwise the run waits for the
    /// command, and only the second request ends it, because an interrupted package manager may
    /// leave an inconsistent state.
    bool interruptible = false;
    bool query = false;  ///< true if the command only reads and changes nothing
};

struct Executed {
    int status = 0;
    int signal = 0;  ///< the signal that ended the command; 0 if it exited by itself
    bool timed_out = false;
    std::string output;
    std::string errors;  ///< standard error, if not merged into the output

    /// Returns the exit status for messages; empty if a signal ended the command.
    std::string status_text() const { return signal ? std::string() : std::to_string(status); }
};

/// Logs once a run that the environment setting `name` of a resource has no value.
void warn_of_empty_setting(const Resource& resource, const std::string& name);

/// Adds variables to the environment of every command that runs while this object exists.
class CommandEnvironment {
public:
    CommandEnvironment(Context& context, std::span<const std::pair<std::string, std::string>> added)
        : context_(context), before_(context.command_environment) {
        context.command_environment = added;
    }
    ~CommandEnvironment() { context_.command_environment = before_; }
    CommandEnvironment(const CommandEnvironment&) = delete;
    CommandEnvironment& operator=(const CommandEnvironment&) = delete;

private:
    Context& context_;
    std::span<const std::pair<std::string, std::string>> before_;
};

/// Runs a command. A command line without shell features is run directly and any other by /bin/sh,
/// as in Ruby's Kernel#exec. Throws base::PuppetError "Execution of 'x' returned 1: output".
Executed execute(Context& context, const std::vector<std::string>& argv,
                 const Execute& options = {});
Executed execute_line(Context& context, const std::string& line, const Execute& options = {});
/// Returns the full path of a provider's program. Throws if it is missing, as Puppet's `commands`
/// do.
std::string command_path(Context& context, std::string_view name);
/// Sleeps. Throws Stopped if a request to stop the run arrives.
void pause(Context& context, std::int64_t ns);
/// Returns the output of the program in the setting `diff` for two files.
std::string difference(Context& context, const std::string& before, const std::string& after);
bool has_command(Context& context, std::string_view name);

}  // namespace bunraku::apply
