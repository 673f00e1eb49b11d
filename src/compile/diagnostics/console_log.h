// SPDX-License-Identifier: Apache-2.0
// The log on standard output and standard error: lines of text as on Puppet's console, lines of
// JSON, or SARIF.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "core/base/diagnostic.h"

namespace bunraku::diagnostics {

/// Output streams of the console log.
enum class Streams : std::uint8_t {
    Errors,  ///< all on stderr, because stdout is for the result
    Puppet   ///< debug, info and notice on stdout, as in `puppet apply`
};

/// Whether each record begins with the time, for long-running programs. In systemd's journal, which
/// records the time itself, lines have their syslog priority instead (sd-daemon(3)).
enum class Stamps : std::uint8_t { None, Time };

struct ConsoleLogOptions {
    base::Level level = base::Level::Notice;
    std::string format = "text";  ///< text, json or sarif
    /// "" means colour on a terminal only. "ansi", "true" and "yes" mean always, "html" means HTML,
    /// and any other value means never.
    std::string color;
    bool explain_errors = false;  ///< true to show explanations with errors even without a terminal
    std::string code;             ///< code of the command line, which errors show
    Streams streams = Streams::Errors;
    Stamps stamps = Stamps::None;
    std::string_view version;  ///< of the program, for SARIF; must outlive the log
    /// Whether warnings and errors without a place print failed system calls without Ruby's names
    /// (see sys::plain_text).
    bool plain_system_errors = false;
};

/// Returns the log sink that the options describe.
std::unique_ptr<base::LogSink> make_console_log(const ConsoleLogOptions& options);

/// Returns a record as a line of JSON with its time, as a log with `Stamps::Time` writes it.
std::string json_record(base::Level level, std::string_view message);

/// Logs the error of a failed command as the last line, "Error: TEXT" or JSON. `suffix` is " on
/// node NAME" or "".
void report_error(base::LogSink& sink, const base::PuppetError& error, std::string_view suffix,
                  std::string_view prefix = {});

}  // namespace bunraku::diagnostics
