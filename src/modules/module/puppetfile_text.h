// SPDX-License-Identifier: Apache-2.0
// The declarations of a Puppetfile before their interpretation.
#pragma once

#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "language/ruby/puppetfile.h"

namespace bunraku::module {

using Declaration = ruby::Declaration;

/// Keywords of r10k and librarian-puppet.
inline constexpr std::string_view kPuppetfileWords[] = {"forge",     "moduledir", "mod",
                                                        "exclusion", "metadata",  "modulefile"};

/// Parses a Puppetfile with only comments, keywords, strings and symbols. Fails on anything else,
/// which needs Ruby. The error contains the line number.
base::Result<std::vector<Declaration>> parse_puppetfile_words(std::string_view text);

}  // namespace bunraku::module
