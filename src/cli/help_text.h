// The help pages (cmd_*.md) as a terminal shows them.
#pragma once

#include <string>
#include <string_view>

namespace bunraku::cli {

/// Headings without their marks, tables as two columns within 80 characters; everything else as it
/// is written.
std::string help_text(std::string_view markdown);

}  // namespace bunraku::cli
