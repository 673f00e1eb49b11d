// `module build` and `module init`.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"

namespace bunraku::module {

/// Packs a module's folder into `folder`/pkg/AUTHOR-NAME-VERSION.tar.gz with fresh checksums;
/// gives its path. Left out: pkg, coverage, hidden files, backups, and what .pdkignore names, or,
/// without one, .pmtignore, or .gitignore. Symlinks are refused.
base::Result<std::string> build_module(const std::string& folder);

/// Makes the skeleton of a module in `parent`/NAME; gives the files made, relative to `parent`.
base::Result<std::vector<std::string>> init_module(const std::string& full_name,
                                                   const std::string& parent);

}  // namespace bunraku::module
