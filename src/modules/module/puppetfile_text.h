// The words of a Puppetfile, before they mean anything.
#pragma once

#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "language/ruby/puppetfile.h"

namespace bunraku::module {

using Declaration = ruby::Declaration;

/// r10k's words, and librarian-puppet's.
inline constexpr std::string_view kPuppetfileWords[] = {"forge",     "moduledir", "mod",
                                                        "exclusion", "metadata",  "modulefile"};

/// Reads what is written in literals alone: comments, words, texts, symbols. Everything else is an
/// error that names the line, and Ruby's business.
base::Result<std::vector<Declaration>> parse_puppetfile_words(std::string_view text);

}  // namespace bunraku::module
