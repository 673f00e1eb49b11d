// A source text and the way from byte offsets to lines and columns.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"

namespace bunraku::syntax {

/// One manifest, template or string of Puppet code. Lives as long as the trees parsed from it.
class Source {
public:
    /// `file` is what messages show; empty for code without a file (-e, eval).
    Source(std::string file, std::string text);
    const std::string& file() const { return file_; }
    std::string_view text() const { return text_; }
    /// Line and column of a byte offset; both count from 1, columns in characters, as Puppet's
    /// Locator.
    base::Location locate(std::uint32_t offset) const;
    int line_of(std::uint32_t offset) const;
    /// The text of a line (from 1), without its newline.
    std::string_view line_text(int line) const;

private:
    std::string file_;
    std::string text_;
    std::vector<std::uint32_t> line_starts_;
};

}  // namespace bunraku::syntax
