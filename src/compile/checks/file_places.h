// SPDX-License-Identifier: Apache-2.0
// Places in files other than manifests (internal to this folder).
#pragma once

#include <string>
#include <string_view>

#include "core/base/diagnostic.h"

namespace bunraku::checks {

/// Returns the location of the first character of a line that is not blank. Lines count from 1.
base::Location start_of_line(std::string_view text, int line);
/// Returns the location of a byte offset. The column counts characters.
base::Location location_of(std::string_view text, std::size_t offset);
/// Returns the location of `word` in a line, or that of the start of the line.
base::Location word_in_line(std::string_view text, int line, std::string_view word);
/// Reports whether a folder is that of a module: it has a metadata.json, and no environment.conf,
/// as control repositories have.
bool is_module_folder(const std::string& folder);

}  // namespace bunraku::checks
