// SPDX-License-Identifier: Apache-2.0
#include "language/syntax/source.h"

#include <algorithm>
#include <cstring>

#include "core/base/assert.h"

namespace bunraku::syntax {

Source::Source(std::string file, std::string text)
    : file_(std::move(file)), text_(std::move(text)) {
    line_starts_.reserve(text_.size() / 32 + 1);
    line_starts_.push_back(0);
    const char* begin = text_.data();
    const char* end = begin + text_.size();
    for (const char* at = begin; at < end;) {
        at = static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
        if (at == nullptr) break;
        ++at;
        line_starts_.push_back(static_cast<std::uint32_t>(at - begin));
    }
    BUNRAKU_ASSERT(line_starts_.back() <= text_.size());
}

int Source::line_of(std::uint32_t offset) const {
    auto after = std::upper_bound(line_starts_.begin(), line_starts_.end(), offset);
    BUNRAKU_ASSERT(after != line_starts_.begin());
    return static_cast<int>(after - line_starts_.begin());
}

base::Location Source::locate(std::uint32_t offset) const {
    const int line = line_of(offset);
    const std::size_t start = line_starts_[static_cast<std::size_t>(line) - 1];
    const std::size_t end = std::min<std::size_t>(offset, text_.size());
    BUNRAKU_ASSERT(line >= 1 && start <= offset);
    int column = 1;
    for (std::size_t i = start; i < end; ++i) {
        // Continuation bytes belong to the character before them.
        if ((static_cast<unsigned char>(text_[i]) & 0xC0) != 0x80) ++column;
    }
    return {file_, line, column};
}

std::string_view Source::line_text(int line) const {
    if (line < 1 || static_cast<std::size_t>(line) > line_starts_.size()) return {};
    std::string_view rest =
        std::string_view(text_).substr(line_starts_[static_cast<std::size_t>(line) - 1]);
    return rest.substr(0, rest.find('\n'));
}

}  // namespace bunraku::syntax
