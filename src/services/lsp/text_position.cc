// SPDX-License-Identifier: Apache-2.0
#include "services/lsp/text_position.h"

#include <algorithm>

#include "core/base/assert.h"

namespace bunraku::lsp {

std::size_t character_size(std::string_view text, std::size_t at) {
    const auto lead = static_cast<unsigned char>(text[at]);
    const std::size_t size = lead < 0xC0 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
    if (at + size > text.size()) return 1;
    for (std::size_t i = 1; i < size; ++i)
        if ((static_cast<unsigned char>(text[at + i]) & 0xC0) != 0x80) return 1;
    return size;
}

namespace {

std::uint32_t units_of_character(std::size_t bytes, Encoding encoding) {
    switch (encoding) {
        case Encoding::Utf8: return static_cast<std::uint32_t>(bytes);
        case Encoding::Utf16: return bytes == 4 ? 2 : 1;
        case Encoding::Utf32: return 1;
    }
    return 1;
}

/// Appends the starts of the lines that begin in (from, to]. Returns true if a line ends with "\r"
/// alone.
bool append_line_starts(std::string_view text, std::size_t from, std::size_t to,
                        std::vector<std::uint32_t>& starts) {
    bool lone = false;
    for (std::size_t i = from; i < to; ++i) {
        if (text[i] == '\r') {
            if (i + 1 < text.size() && text[i + 1] == '\n') continue;
            lone = true;
        } else if (text[i] != '\n') {
            continue;
        }
        starts.push_back(static_cast<std::uint32_t>(i + 1));
    }
    return lone;
}

}  // namespace

LineIndex::LineIndex(std::string_view text) : size_(static_cast<std::uint32_t>(text.size())) {
    lone_returns_ = append_line_starts(text, 0, text.size(), starts_);
}

std::uint32_t LineIndex::line_of(std::uint32_t offset) const {
    const auto after = std::ranges::upper_bound(starts_, offset);
    return static_cast<std::uint32_t>(after - starts_.begin()) - 1;
}

std::string_view LineIndex::line(std::string_view text, std::size_t line) const {
    BUNRAKU_ASSERT(line < starts_.size());
    const std::size_t begin = starts_[line];
    std::size_t end = line + 1 < starts_.size() ? starts_[line + 1] : text.size();
    if (line + 1 < starts_.size()) {
        --end;
        if (end > begin && text[end] == '\n' && text[end - 1] == '\r') --end;
    }
    return text.substr(begin, end - begin);
}

std::uint32_t LineIndex::offset(std::string_view text, Position at, Encoding encoding) const {
    if (at.line >= starts_.size()) return static_cast<std::uint32_t>(text.size());
    const std::string_view content = line(text, at.line);
    std::size_t i = 0;
    std::uint32_t units = 0;
    while (i < content.size() && units < at.character) {
        const std::size_t bytes = character_size(content, i);
        const std::uint32_t size = units_of_character(bytes, encoding);
        if (units + size > at.character) break;  // inside of the character
        units += size;
        i += bytes;
    }
    return starts_[at.line] + static_cast<std::uint32_t>(i);
}

Position LineIndex::position(std::string_view text, std::uint32_t offset, Encoding encoding) const {
    offset = std::min(offset, static_cast<std::uint32_t>(text.size()));
    const std::uint32_t number = line_of(offset);
    const std::string_view content = line(text, number);
    const std::size_t target = std::min<std::size_t>(offset - starts_[number], content.size());
    std::uint32_t units = 0;
    for (std::size_t i = 0; i < target;) {
        const std::size_t bytes = character_size(content, i);
        units += units_of_character(bytes, encoding);
        i += bytes;
    }
    return {number, units};
}

Range LineIndex::range(std::string_view text, Span span, Encoding encoding) const {
    return {position(text, span.offset, encoding), position(text, span.end(), encoding)};
}

void LineIndex::replace(std::string_view text, std::uint32_t from, std::uint32_t removed,
                        std::uint32_t added) {
    BUNRAKU_ASSERT(from + added <= text.size());
    // A carriage return before the change may become or cease to be a line break of its own.
    const std::uint32_t first = from > 0 ? from - 1 : 0;
    const auto keep = std::ranges::upper_bound(starts_, first);
    std::vector<std::uint32_t> starts(starts_.begin(), keep);
    if (starts.empty()) starts.push_back(0);
    if (append_line_starts(text, first, std::min<std::size_t>(from + added + 1, text.size()),
                           starts))
        lone_returns_ = true;
    for (auto old = std::ranges::upper_bound(starts_, from + removed + 1); old != starts_.end();
         ++old) {
        starts.push_back(*old - removed + added);
    }
    starts_ = std::move(starts);
    size_ = static_cast<std::uint32_t>(text.size());
}

}  // namespace bunraku::lsp
