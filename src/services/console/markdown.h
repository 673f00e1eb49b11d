// SPDX-License-Identifier: Apache-2.0
// Texts in Markdown: READMEs of modules and documentation comments.
#pragma once

#include <string_view>

#include "services/console/html.h"

namespace bunraku::console {

/// Renders Markdown, in which HTML is text. Headings follow a heading of level 2, without gaps.
/// Cuts texts of more than 128 KB.
Markup markdown(std::string_view text);
/// Writes the text in a box.
void write_markdown(Html& h, std::string_view text);

}  // namespace bunraku::console
