// What the terminal of a command can show: colors, and how far long work is.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>

#include "core/base/diagnostic.h"

namespace bunraku::cli {

/// Returns true if `fd` is a terminal that understands escape sequences: TERM=dumb does not.
bool is_capable_terminal(int fd);

/// Returns true if output to `fd` is colored unless an option says otherwise (NO_COLOR turns it
/// off).
bool has_colors(int fd);

/// A line on standard error that shows how far work is and disappears with the object. Silent
/// unless standard error is a capable terminal. Not thread-safe.
class ProgressLine {
public:
    ProgressLine() : shown_(is_capable_terminal(2)) {}
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;
    ~ProgressLine() { clear(); }

    /// Replaces the line; calls that follow too soon do nothing.
    void show(std::string_view text);
    /// "12 of 40 nodes compiled".
    void show(std::size_t done, std::size_t all, std::string_view what);
    /// Adds a line above, which disappears at the end, too.
    void show_above(std::string_view text);
    void clear();
    bool shown() const { return shown_; }

private:
    std::string fitted(std::string_view text) const;

    bool shown_;
    bool drawn_ = false;
    std::size_t above_ = 0;
    std::string text_;
    std::chrono::steady_clock::time_point last_;
};

/// A log whose messages below the level of another one are shown on a progress line.
class ProgressLog final : public base::LogSink {
public:
    explicit ProgressLog(base::LogSink& log) : log_(log) {}
    using LogSink::log;
    bool enabled(base::Level level) const override;
    void log(const base::Diagnostic& record) override;

private:
    base::LogSink& log_;
    std::mutex mutex_;
    ProgressLine line_;
};

}  // namespace bunraku::cli
