// SPDX-License-Identifier: Apache-2.0
// A text with possible line breaks, and its rendering within a line length. A group is written in
// one line if it fits, otherwise each of its breaks starts a line (Oppen 1980, Wadler 2003).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace bunraku::format {

/// Operations of a layout. Their texts must live as long as the layout.
class Layout {
public:
    enum class Kind : std::uint8_t {
        Text,   ///< may contain line breaks, which are written unchanged
        Space,  ///< one blank, unless a line ends or starts here
        Line,   ///< a blank if the group is in one line, otherwise a line break
        Soft,   ///< nothing if the group is in one line, otherwise a line break
        Hard,   ///< a line break
        Begin,  ///< begin and end of a group
        End,
        Indent,  ///< Indent and Dedent have no effect if the group is in one line.
        Dedent,
        IfBroken,  ///< a text that is written only if the group is in several lines
        Pad,       ///< `count` blanks if the group is in several lines
        Inline,    ///< a text that counts only if the group is in one line
        Comment,   ///< a comment for the end of the current line
        Heredoc,   ///< lines that follow the current line
        Raw,       ///< lines that are written without indentation
    };
    enum class Break : std::uint8_t { IfTooLong, Always, IfItHelps };
    struct Op {
        Kind kind = Kind::Text;
        Break when = Break::IfTooLong;      ///< Begin
        bool blank = false;                 ///< Line, Soft, Hard: also write an empty line
        int count = 0;                      ///< Pad: blanks. Begin: indentation at `last`
        std::uint32_t match = 0;            ///< Begin: index of End
        std::uint32_t first = 0, last = 0;  ///< Begin: own breaks; 0 if there is none
        std::string_view text = {};
    };

    void text(std::string_view text) { ops_.push_back({.kind = Kind::Text, .text = text}); }
    /// Adds a comment after the last item of a list. If the list has several lines, the comment
    /// ends its line and, as other comments there, does not count as a part of the line.
    void inline_comment(std::string_view text) {
        ops_.push_back({.kind = Kind::Inline, .text = text});
    }
    void space() { add(Kind::Space); }
    void line(bool blank = false) { ops_.push_back({.kind = Kind::Line, .blank = blank}); }
    void soft(bool blank = false) { ops_.push_back({.kind = Kind::Soft, .blank = blank}); }
    void hard(bool blank = false) { ops_.push_back({.kind = Kind::Hard, .blank = blank}); }
    /// Begins a group and returns its index.
    std::size_t begin(Break when = Break::IfTooLong) {
        ops_.push_back({.kind = Kind::Begin, .when = when});
        return ops_.size() - 1;
    }
    void end() { add(Kind::End); }
    void indent() { add(Kind::Indent); }
    void dedent() { add(Kind::Dedent); }
    void if_broken(std::string_view text) {
        ops_.push_back({.kind = Kind::IfBroken, .text = text});
    }
    void comment(std::string_view text) { ops_.push_back({.kind = Kind::Comment, .text = text}); }
    void heredoc(std::string_view lines) { ops_.push_back({.kind = Kind::Heredoc, .text = lines}); }
    void raw(std::string_view lines) { ops_.push_back({.kind = Kind::Raw, .text = lines}); }
    /// Adds blanks whose number is set later, and returns their index.
    std::size_t pad() {
        add(Kind::Pad);
        return ops_.size() - 1;
    }

    /// Breaks the group at `begin` in any case.
    void always_break(std::size_t begin) { ops_[begin].when = Break::Always; }
    void set_pad(std::size_t pad, int count) { ops_[pad].count = count; }
    std::size_t size() const { return ops_.size(); }
    /// Removes the operations from `size` on.
    void truncate(std::size_t size) { ops_.resize(size); }
    /// Reports whether the operations from `begin` on contain a line break in any case.
    bool has_break(std::size_t begin) const;
    /// Returns the width of the operations [begin, end) in one line, or -1 if they need several.
    int flat_width(std::size_t begin, std::size_t end) const;

    /// Returns the text, which ends with a line break unless it is empty.
    std::string render(int line_length);

private:
    void add(Kind kind) { ops_.push_back({.kind = kind}); }
    void resolve();

    std::vector<Op> ops_;
};

/// Returns the number of characters of a UTF-8 text.
int width_of(std::string_view text);

}  // namespace bunraku::format
