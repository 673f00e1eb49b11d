// SPDX-License-Identifier: Apache-2.0
// Positions of the Language Server Protocol, and their conversion from and to byte offsets.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

namespace bunraku::lsp {

/// The unit in which a client counts the characters of a line (LSP 3.17, PositionEncodingKind).
enum class Encoding : std::uint8_t { Utf8, Utf16, Utf32 };

/// A position as clients send it. Both numbers count from 0.
struct Position {
    std::uint32_t line = 0;
    std::uint32_t character = 0;
    friend bool operator==(const Position&, const Position&) = default;
    friend auto operator<=>(const Position&, const Position&) = default;
};

struct Range {
    Position start, end;
    friend bool operator==(const Range&, const Range&) = default;
};

/// Returns the number of bytes of the character at `at`. An invalid byte is a character of its own.
std::size_t character_size(std::string_view text, std::size_t at);

/// A range of bytes in a text.
struct Span {
    std::uint32_t offset = 0;
    std::uint32_t length = 0;
    std::uint32_t end() const { return offset + length; }
    /// Reports whether the span contains the offset or ends at it.
    bool touches(std::uint32_t at) const { return at >= offset && at <= end(); }
    friend bool operator==(const Span&, const Span&) = default;
};

/// The starts of the lines of one text. Lines end with "\n", "\r\n" or "\r". The functions take the
/// text for which the index was made.
class LineIndex {
public:
    LineIndex() = default;
    explicit LineIndex(std::string_view text);

    std::size_t count() const { return starts_.size(); }
    std::uint32_t start(std::size_t line) const { return starts_[line]; }
    /// Returns the line that contains the offset.
    std::uint32_t line_of(std::uint32_t offset) const;
    /// Returns the bytes of a line without its line break.
    std::string_view line(std::string_view text, std::size_t line) const;

    /// Returns the offset of a position. A position after the end of its line is moved to that end,
    /// and one after the last line to the end of the text, as the protocol requires.
    std::uint32_t offset(std::string_view text, Position at, Encoding encoding) const;
    Position position(std::string_view text, std::uint32_t offset, Encoding encoding) const;
    Range range(std::string_view text, Span span, Encoding encoding) const;
    /// Returns the position of an offset in a text in which each character is one byte.
    Position ascii_position(std::uint32_t offset) const {
        offset = offset < size_ ? offset : size_;
        const std::uint32_t line = line_of(offset);
        return {line, offset - starts_[line]};
    }

    /// Updates the index after the bytes [from, from + removed) of the old text were replaced by
    /// `added`, which begins at the same offset in the new text `text`.
    void replace(std::string_view text, std::uint32_t from, std::uint32_t removed,
                 std::uint32_t added);

    /// Reports whether a line may end with "\r" alone, which ends no line of a parser.
    bool has_lone_returns() const { return lone_returns_; }

private:
    std::vector<std::uint32_t> starts_{0};
    bool lone_returns_ = false;
    std::uint32_t size_ = 0;  ///< of the text
};

}  // namespace bunraku::lsp
