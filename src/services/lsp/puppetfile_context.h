// SPDX-License-Identifier: Apache-2.0
// What a Puppetfile expects at the cursor. The rest of the line may be missing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "services/lsp/text_position.h"

namespace bunraku::lsp {

enum class PuppetfileExpected : std::uint8_t {
    Keyword,     ///< mod, forge or moduledir
    ModuleName,  ///< the first argument of mod
    Argument,    ///< the version or an option of a module
    Option,      ///< an option of a module
    Nothing,
};

struct PuppetfileContext {
    PuppetfileExpected expected = PuppetfileExpected::Nothing;
    Span word;            ///< the part before the cursor, without a quote
    bool quoted = false;  ///< whether a quote precedes the word
    /// The entry around the cursor: its module, and the options that it has before the cursor.
    std::string module;
    std::vector<std::string> options;
};

PuppetfileContext puppetfile_context(std::string_view text, std::uint32_t offset);

}  // namespace bunraku::lsp
