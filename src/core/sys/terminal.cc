// SPDX-License-Identifier: Apache-2.0
#include "core/sys/terminal.h"

#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace bunraku::sys {

bool is_capable_terminal(int fd) {
    if (::isatty(fd) != 1) return false;
    const char* terminal = std::getenv("TERM");
    return !terminal || std::string_view(terminal) != "dumb";
}

bool has_colors(int fd) {
    const char* no_color = std::getenv("NO_COLOR");
    return is_capable_terminal(fd) && !(no_color && *no_color);
}

std::string ProgressLine::fitted(std::string_view text) const {
    winsize size{};
    std::size_t width = 80;
    if (::ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1) width = size.ws_col;
    // A line that wraps cannot be erased, so it is truncated.
    std::string out;
    std::size_t columns = 0;
    for (const char c : text) {
        const bool begins = (static_cast<unsigned char>(c) & 0xC0) != 0x80;
        if (begins && ++columns >= width) break;
        out += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
    }
    return out;
}

void ProgressLine::show(std::string_view text) {
    constexpr auto kPause = std::chrono::milliseconds(100);
    const auto now = std::chrono::steady_clock::now();
    if (!shown_ || (drawn_ && now - last_ < kPause)) return;
    last_ = now;
    drawn_ = true;
    text_ = fitted(text);
    fmt::print(stderr, "\r\033[K{}", text_);
    std::fflush(stderr);
}

void ProgressLine::show(std::size_t done, std::size_t all, std::string_view what) {
    if (shown_) show(fmt::format("{} of {} {}", done, all, what));
}

void ProgressLine::show_above(std::string_view text) {
    if (!shown_) return;
    drawn_ = true;
    ++above_;
    fmt::print(stderr, "\r\033[K{}\n{}", fitted(text), text_);
    std::fflush(stderr);
}

void ProgressLine::clear() {
    if (!drawn_) return;
    fmt::print(stderr, "\r\033[K");
    for (; above_ > 0; --above_) fmt::print(stderr, "\033[A\033[K");
    std::fflush(stderr);
    drawn_ = false;
    text_.clear();
}

bool ProgressLog::enabled(base::Level level) const {
    return log_.enabled(level) || (line_.shown() && level == base::Level::Info);
}

void ProgressLog::log(const base::Diagnostic& record) {
    const std::lock_guard lock(mutex_);
    if (!log_.enabled(record.level)) return line_.show(record.message);
    line_.clear();
    log_.log(record);
}

}  // namespace bunraku::sys
