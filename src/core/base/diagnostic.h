// SPDX-License-Identifier: Apache-2.0
// Log records with a source location, and the one exception that ends a compile.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace bunraku::base {

/// Puppet's log levels, in its order.
enum class Level : std::uint8_t { Debug, Info, Notice, Warning, Err, Alert, Emerg, Crit };

/// "debug", "info", "notice", "warning", "err", "alert", "emerg", "crit".
std::string_view level_name(Level level);
std::optional<Level> level_from_name(std::string_view name);

/// A source location as shown to users. Line and column start at 1; 0 means unknown. An empty
/// `file` means no file.
struct Location {
    std::string file;
    int line = 0;
    int column = 0;
    bool known() const { return line > 0 || !file.empty(); }
};

/// Returns Puppet's text for a location: "(file: F, line: L, column: C)" with the known parts,
/// or "".
std::string format_location(const Location& where);

/// A log record. `message` does not repeat the location in `where`.
struct Diagnostic {
    Level level = Level::Notice;
    std::string message;
    Location where;
    std::string issue_code;  ///< Puppet's issue name, "UNKNOWN_VARIABLE"; may be empty
    /// such as "Scope(Class[main])" or "/Stage[main]/Main/File[/x]/ensure"
    std::string source = "Puppet";
    bool deprecation = false;
    /// True if a manifest or a module's Ruby code wrote the message: it is not searched for hints.
    bool authored = false;
    std::vector<std::string> tags;  ///< apply: the tags of the resource
};

/// The destination of log records. Implementations drop records below their level.
class LogSink {
public:
    virtual ~LogSink() = default;
    virtual void log(const Diagnostic& diagnostic) = 0;
    /// Returns false if the sink would drop a record of this level, so that the caller need not
    /// format it.
    virtual bool enabled(Level level) const = 0;

    void log(Level level, std::string message) {
        if (enabled(level)) log(Diagnostic{.level = level, .message = std::move(message)});
    }
};

/// Drops all records; for tests, and for library calls whose logs are not needed.
class NullSink final : public LogSink {
public:
    void log(const Diagnostic&) override {}
    bool enabled(Level) const override { return false; }
};

/// Stores all records in order.
class MemorySink final : public LogSink {
public:
    using LogSink::log;
    void log(const Diagnostic& diagnostic) override { records.push_back(diagnostic); }
    bool enabled(Level) const override { return true; }
    std::vector<Diagnostic> records;
};

/// A user-facing error that ends a parse, an evaluation or a compile.
///
/// `what()` returns Puppet's bare text, without prefix and location. Code that does not know a
/// location (types, functions) throws without one, and the evaluator adds the location of the
/// current expression.
class PuppetError : public std::exception {
public:
    /// The form in which Puppet prints the whole error: "Evaluation Error: ...", "Syntax error
    /// at ...", or bare.
    enum class Class : std::uint8_t { Evaluation, Parse, Plain };

    explicit PuppetError(std::string message, std::string issue_code = {},
                         Class cls = Class::Evaluation)
        : message_(std::move(message)), issue_code_(std::move(issue_code)), class_(cls) {}

    const char* what() const noexcept override { return message_.c_str(); }
    const std::string& message() const { return message_; }
    const std::string& issue_code() const { return issue_code_; }
    Class error_class() const { return class_; }
    const Location& where() const { return where_; }
    bool located() const { return where_.known(); }
    /// Returns the location that is shown to users even though Puppet's text does not contain it.
    const Location& shown_location() const { return shown_; }
    PuppetError& at(Location where) {
        where_ = std::move(where);
        return *this;
    }
    /// Adds text to the end of the message.
    PuppetError& append(std::string_view text) {
        message_ += text;
        return *this;
    }
    PuppetError& show_at(Location place) {
        shown_ = std::move(place);
        return *this;
    }
    /// Returns the Puppet call stack, innermost first, as texts of the form "file:line in
    /// function".
    const std::vector<std::string>& trace() const { return trace_; }
    void add_frame(std::string frame) { trace_.push_back(std::move(frame)); }
    /// True if the text of the message already has its prefix (errors raised through `fail`, nested
    /// compiles).
    bool verbatim = false;
    /// True if a manifest (`fail`) or a module's Ruby code (`raise`) wrote the message: it is not
    /// searched for hints.
    bool authored = false;

    /// Returns the whole text that Puppet prints after "Error: ", without the node, for example
    /// "Evaluation Error: Unknown variable: 'x'. (file: /a.pp, line: 1, column: 5)".
    std::string full_text() const;

private:
    std::string message_;
    std::string issue_code_;
    Class class_;
    Location where_, shown_;
    std::vector<std::string> trace_;
};

}  // namespace bunraku::base
