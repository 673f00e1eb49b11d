// Running commands as Puppet's providers do: by argument vector, with its debug lines and errors.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "resources/apply/resource.h"

namespace bunraku::apply {

struct Execute {
    bool fail_on_error = true;
    bool combine = true;          ///< standard error into the output
    bool override_locale = true;  ///< LANG=C
    bool sensitive = false;
    std::string cwd;
    std::optional<std::string> user, group;  ///< names or ids
    std::vector<std::pair<std::string, std::optional<std::string>>> environment;
    std::optional<std::uint32_t> umask;
    double timeout_seconds = 0;  ///< 0: none
    std::string input;
    std::string search_path;
    /// The first request to stop the run ends the command; else it is waited for, as a package
    /// manager cut off in the middle leaves a mess, and the second request ends it.
    bool interruptible = false;
    bool query = false;  ///< it only looks, and changes nothing
};

struct Executed {
    int status = 0;
    int signal = 0;  ///< what ended it; 0: it ended by itself
    bool timed_out = false;
    std::string output;
    std::string errors;  ///< standard error, where it is not combined

    /// As messages have it: nothing where a signal ended it.
    std::string status_text() const { return signal ? std::string() : std::to_string(status); }
};

/// A command line that names no shell feature is run directly, any other by /bin/sh, as Ruby's
/// Kernel#exec has it. Throws base::PuppetError "Execution of 'x' returned 1: output".
Executed execute(Context& context, const std::vector<std::string>& argv,
                 const Execute& options = {});
Executed execute_line(Context& context, const std::string& line, const Execute& options = {});
/// For providers: the program's full path; throws where it is missing, as Puppet's `commands` do.
std::string command_path(Context& context, std::string_view name);
/// Waits; a request to stop the run ends that with Stopped.
void pause(Context& context, std::int64_t ns);
/// What the program of the setting `diff` tells of two files.
std::string difference(Context& context, const std::string& before, const std::string& after);
bool has_command(Context& context, std::string_view name);

}  // namespace bunraku::apply
