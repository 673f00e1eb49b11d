// SPDX-License-Identifier: Apache-2.0
// The problems that `bunraku lint` finds, in open documents.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "services/lsp/diagnose.h"

namespace bunraku::lsp {

void check_lint(const OpenFile& file, std::vector<Problem>& out);
/// Returns the text with all problems fixed that lint can fix; nullopt if nothing changes.
std::optional<std::string> lint_fixed(const std::string& path, const std::string& text);

}  // namespace bunraku::lsp
