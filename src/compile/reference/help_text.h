// SPDX-License-Identifier: Apache-2.0
// Formats the help pages (cmd_*.md) for a terminal.
#pragma once

#include <string>
#include <string_view>

namespace bunraku::reference {

/// Removes the marks of headings and formats tables as two columns within 80 characters. Everything
/// else is unchanged.
std::string help_text(std::string_view markdown);

/// Reformats a text of 80 columns for a smaller width. Joins and breaks lines again, and moves
/// explanations below their terms. Words are not broken.
std::string narrowed(std::string_view text, std::size_t width);
/// Does the same if standard output is a terminal with fewer columns.
std::string for_terminal(std::string text);

}  // namespace bunraku::reference
