// SPDX-License-Identifier: Apache-2.0
// Formats Puppet code in one canonical style: the style guide of Vox Pupuli, with the layout that
// puppet-lint checks.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace bunraku::format {

using base::Result;

struct FormatOptions {
    int line_length = 140;  ///< in characters; lines that cannot be broken may be longer
};

/// Returns the manifest `text` in the canonical layout. The result has the same syntax tree and the
/// same comments in the same order; otherwise this function returns an error instead. Errors are
/// those of the parser, with `path` and the position, or a construct that cannot be formatted.
Result<std::string> format(std::string_view text, std::string_view path,
                           const FormatOptions& options = {});

/// A replacement of the bytes [begin, end) of a text.
struct TextEdit {
    std::uint32_t begin = 0, end = 0;
    std::string text;
};

/// Lines from `first` to `last`, counted from 1, both included.
struct LineRange {
    int first = 1, last = 1;
};

/// Returns the edits that give the lines of `range` the canonical layout, ordered and without
/// overlaps. Each edit replaces only the text between two tokens, so that the edits are valid
/// without those of other lines. Errors are those of format().
Result<std::vector<TextEdit>> format_range(std::string_view text, std::string_view path,
                                           LineRange range, const FormatOptions& options = {});

/// Returns `text` with the edits applied. The edits must be ordered and must not overlap.
std::string apply_edits(std::string_view text, const std::vector<TextEdit>& edits);

}  // namespace bunraku::format
