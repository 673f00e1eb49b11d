// The help pages (cmd_*.md) as a terminal shows them.
#pragma once

#include <string>
#include <string_view>

namespace bunraku::cli {

/// Headings without their marks, tables as two columns within 80 characters; everything else as it
/// is written.
std::string help_text(std::string_view markdown);

/// A text of 80 columns for fewer: lines that go on are put together and broken anew, explanations
/// go below what they explain. Words are not broken.
std::string narrowed(std::string_view text, std::size_t width);
/// The same for the terminal that is standard output, if that is one and has fewer columns.
std::string for_terminal(std::string text);

}  // namespace bunraku::cli
