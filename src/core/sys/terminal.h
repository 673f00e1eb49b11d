// SPDX-License-Identifier: Apache-2.0
// Terminal features of commands: colours and progress.
#pragma once

#include <chrono>
#include <cstddef>
#include <mutex>
#include <string>
#include <string_view>

#include "core/base/diagnostic.h"

namespace bunraku::sys {

/// Returns true if `fd` is a terminal that understands escape sequences: TERM=dumb does not.
bool is_capable_terminal(int fd);

/// Returns true if output to `fd` is coloured by default (NO_COLOR disables it).
bool has_colors(int fd);

/// A progress line on standard error that disappears with the object. Does nothing unless standard
/// error is a capable terminal. Not thread-safe.
class ProgressLine {
public:
    ProgressLine() : shown_(is_capable_terminal(2)) {}
    ProgressLine(const ProgressLine&) = delete;
    ProgressLine& operator=(const ProgressLine&) = delete;
    ~ProgressLine() { clear(); }

    /// Replaces the line. Ignores calls that follow too quickly.
    void show(std::string_view text);
    /// Shows, for example, "12 of 40 nodes compiled".
    void show(std::size_t done, std::size_t all, std::string_view what);
    /// Adds a line above the progress line. It disappears at the end, too.
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

/// A log that shows messages below the level of another log on a progress line.
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

}  // namespace bunraku::sys
