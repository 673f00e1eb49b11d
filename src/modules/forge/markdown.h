// SPDX-License-Identifier: Apache-2.0
// Renders READMEs as HTML: the common part of Markdown (CommonMark, and the tables of GitHub),
// without anything dangerous. HTML in the source is escaped, links lead to http(s) only, and images
// become links.
#pragma once

#include <string>
#include <string_view>

namespace bunraku::forge {

/// Returns markup for the body of a page. Accepts any bytes, and takes linear time.
std::string markdown_html(std::string_view text);
/// Reports whether `markup` begins with a tag that markdown_html() writes. For tests: its output
/// contains no other "<".
bool is_markdown_tag(std::string_view markup);

}  // namespace bunraku::forge
