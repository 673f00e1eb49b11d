// SPDX-License-Identifier: Apache-2.0
// A source text and the mapping from byte offsets to lines and columns.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"

namespace bunraku::syntax {

/// One manifest, template or string of Puppet code. It lives as long as the trees parsed from it.
class Source {
public:
    /// `file` is the name shown in messages. It is empty for code without a file (-e, eval).
    Source(std::string file, std::string text);
    const std::string& file() const { return file_; }
    std::string_view text() const { return text_; }
    /// Returns the line and column of a byte offset. Both count from 1, and columns are in
    /// characters, as in Puppet's Locator.
    base::Location locate(std::uint32_t offset) const;
    int line_of(std::uint32_t offset) const;
    /// Returns the text of a line (counted from 1), without its newline.
    std::string_view line_text(int line) const;

private:
    std::string file_;
    std::string text_;
    std::vector<std::uint32_t> line_starts_;
};

}  // namespace bunraku::syntax
