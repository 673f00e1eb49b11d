// SPDX-License-Identifier: Apache-2.0
// The commands `module build` and `module init`.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"

namespace bunraku::module {

/// Packs the folder of a module into `folder`/pkg/AUTHOR-NAME-VERSION.tar.gz with new checksums,
/// and returns the path. Omits pkg, coverage, hidden files, backups, and files that .pdkignore
/// lists. Without a .pdkignore, uses .pmtignore, or else .gitignore. Fails if the folder contains
/// symlinks.
base::Result<std::string> build_module(const std::string& folder);

/// Creates the skeleton of a module in `parent`/NAME. Returns the created files, relative to
/// `parent`.
base::Result<std::vector<std::string>> init_module(const std::string& full_name,
                                                   const std::string& parent);

}  // namespace bunraku::module
