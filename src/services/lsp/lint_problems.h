// SPDX-License-Identifier: Apache-2.0
// The problems that `bunraku lint` finds, in open documents.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "services/lsp/diagnose.h"

namespace bunraku::lsp {

void check_lint(const OpenFile& file, std::vector<Problem>& out);
/// Adds unreachable code and deprecated functions. Names and types have their own checks here,
/// which know the open documents.
void check_code(const OpenFile& file, std::vector<Problem>& out);
/// Adds the problems of a metadata.json, a Puppetfile or an environment.conf.
void check_other_file(const OpenFile& file, std::vector<Problem>& out);
/// Reports whether lint can fix problems of a check.
bool is_fixable(std::string_view check);
/// Returns the text with all problems fixed that lint can fix, or only those of one check; nullopt
/// if nothing changes.
std::optional<std::string> lint_fixed(const std::string& path, const std::string& text,
                                      std::string_view only = {});

}  // namespace bunraku::lsp
