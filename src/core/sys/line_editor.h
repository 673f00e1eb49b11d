// SPDX-License-Identifier: Apache-2.0
// A line editor with history and completion for `bunraku eval`. It implements the common functions
// of readline without the library.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace bunraku::sys {

class LineEditor {
public:
    /// The candidates for the word at the cursor, and the start of that word.
    struct Completion {
        std::size_t begin = 0;
        std::vector<std::string> words;
    };
    using Completer = std::function<Completion(std::string_view text, std::size_t cursor)>;

    /// Reads keys from `in` and writes to `out`; both must be a terminal.
    LineEditor(int in, int out, Completer completer)
        : in_(in), out_(out), completer_(std::move(completer)) {}

    enum class End { Line, Interrupted, Closed };
    /// Reads a line, which is then available as `text()`.
    End read(std::string_view prompt);
    const std::string& text() const { return text_; }

    void remember(const std::string& line);
    std::vector<std::string>& history() { return history_; }

private:
    enum Key : int {
        kUp = 256,
        kDown,
        kLeft,
        kRight,
        kHome,
        kEnd,
        kDelete,
        kWordLeft,
        kWordRight,
        kNone,
        kGone
    };
    int byte();
    int key();
    void show();
    void insert(std::string_view bytes);
    void erase(std::size_t from, std::size_t to);
    std::size_t before(std::size_t at) const;
    std::size_t after(std::size_t at) const;
    std::size_t word_before(std::size_t at) const;
    std::size_t word_after(std::size_t at) const;
    void recall(int step);
    void complete();
    void write(std::string_view bytes);

    int in_, out_;
    Completer completer_;
    std::string prompt_, text_, killed_,
        typed_text_;                      ///< `kept_`: the text typed before the history was used
    std::size_t cursor_ = 0, first_ = 0;  ///< `first_`: start of the visible part
    std::vector<std::string> history_;
    std::size_t recalled_ = 0;
};

}  // namespace bunraku::sys
