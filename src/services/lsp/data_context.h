// SPDX-License-Identifier: Apache-2.0
// What the text before the cursor expects in data of Hiera, hiera.yaml and ERB templates.
#pragma once

#include <cstdint>
#include <string_view>

#include "services/lsp/analyze.h"
#include "services/lsp/cursor_context.h"

namespace bunraku::lsp {

CursorContext data_context(std::string_view text, std::uint32_t offset, FileKind kind);

}  // namespace bunraku::lsp
