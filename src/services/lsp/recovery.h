// SPDX-License-Identifier: Apache-2.0
// Parses texts that are being edited: a syntax error hides only the lines around it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "language/syntax/ast.h"
#include "services/lsp/text_position.h"

namespace bunraku::lsp {

/// The tree of a text. If the text has a syntax error, the tree is that of a copy in which some
/// lines are blank, so its offsets are valid in the text, too. Closing brackets may follow the end.
struct RecoveredTree {
    std::shared_ptr<const syntax::Tree> tree;
    std::optional<base::PuppetError> error;  ///< the first syntax error of the text itself
    std::vector<Span> blanked;               ///< the lines that are missing in the tree
    /// False if no part of the text could be parsed. The tree is empty then.
    bool useful = true;
};

/// Parses the text. The result depends on the text only (docs/design/0361). `file` is the name in
/// messages.
RecoveredTree parse_with_recovery(const std::string& file, std::string_view text, bool epp);

/// Returns the byte offset of a location of the parser, whose columns count characters from 1. The
/// end of the text if the location has no line.
std::uint32_t offset_of_location(std::string_view text, const LineIndex& lines,
                                 const base::Location& where);

}  // namespace bunraku::lsp
