// READMEs as pages show them: the usual part of Markdown (CommonMark, tables of GitHub's), and
// nothing of it that could do anything. What stands in them is text: there is no HTML in Markdown
// here, links lead to http(s) alone, images are links.
#pragma once

#include <string>
#include <string_view>

namespace bunraku::forge {

/// Markup for the body of a page. Takes any bytes; takes time in proportion to them.
std::string markdown_html(std::string_view text);
/// Does `markup` begin with a tag that markdown_html writes? For tests: there is no other "<" in
/// it.
bool is_markdown_tag(std::string_view markup);

}  // namespace bunraku::forge
