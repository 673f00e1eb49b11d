// What a user is told: log records with a place in a source, and the one exception that ends a
// compile.
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

/// A place for people: line and column count from 1; 0 is "unknown". An empty file is "no file".
struct Location {
    std::string file;
    int line = 0;
    int column = 0;
    bool known() const { return line > 0 || !file.empty(); }
};

/// Puppet's text for a place: "(file: F, line: L, column: C)" with what is known, or "".
std::string format_location(const Location& where);

/// One log record. `message` does not repeat what `where` says.
struct Diagnostic {
    Level level = Level::Notice;
    std::string message;
    Location where;
    std::string issue_code;         ///< Puppet's issue name, "UNKNOWN_VARIABLE"; may be empty
    std::string source = "Puppet";  ///< "Scope(Class[main])", "/Stage[main]/Main/File[/x]/ensure"
    bool deprecation = false;
    /// True if a manifest or a module's Ruby code wrote the message: it is not searched for hints.
    bool authored = false;
    std::vector<std::string> tags;  ///< apply: the tags of the resource
};

/// Where log records go. Implementations drop what is below their level.
class LogSink {
public:
    virtual ~LogSink() = default;
    virtual void log(const Diagnostic& diagnostic) = 0;
    /// False where a record of this level would be dropped: spares making its text.
    virtual bool enabled(Level level) const = 0;

    void log(Level level, std::string message) {
        if (enabled(level)) log(Diagnostic{.level = level, .message = std::move(message)});
    }
};

/// Drops everything; for tests and for library calls whose logs nobody reads.
class NullSink final : public LogSink {
public:
    void log(const Diagnostic&) override {}
    bool enabled(Level) const override { return false; }
};

/// Keeps everything, in order.
class MemorySink final : public LogSink {
public:
    using LogSink::log;
    void log(const Diagnostic& diagnostic) override { records.push_back(diagnostic); }
    bool enabled(Level) const override { return true; }
    std::vector<Diagnostic> records;
};

/// A user-facing error: it ends a parse, an evaluation, a compile.
///
/// `what()` is Puppet's bare text, without prefix and place. Code that knows no place (types,
/// functions) throws without one; the evaluator adds the place of the expression it was in.
class PuppetError : public std::exception {
public:
    /// How Puppet words the whole: "Evaluation Error: ...", "Syntax error at ...", or bare.
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
    /// Where it is known to stand although Puppet's text names no place: people are shown it.
    const Location& stands() const { return stands_; }
    PuppetError& at(Location where) {
        where_ = std::move(where);
        return *this;
    }
    PuppetError& standing_at(Location place) {
        stands_ = std::move(place);
        return *this;
    }
    /// Puppet call stack, innermost first: ready texts "file:line in function".
    const std::vector<std::string>& trace() const { return trace_; }
    void add_frame(std::string frame) { trace_.push_back(std::move(frame)); }
    /// Set by a message whose text already carries its prefix (errors raised through `fail`, nested
    /// compiles).
    bool verbatim = false;
    /// True if a manifest (`fail`) or a module's Ruby code (`raise`) wrote the message: it is not
    /// searched for hints.
    bool authored = false;

    /// The whole text as Puppet prints it behind "Error: ", e.g.
    /// "Evaluation Error: Unknown variable: 'x'. (file: /a.pp, line: 1, column: 5)"; no node.
    std::string full_text() const;

private:
    std::string message_;
    std::string issue_code_;
    Class class_;
    Location where_, stands_;
    std::vector<std::string> trace_;
};

}  // namespace bunraku::base
