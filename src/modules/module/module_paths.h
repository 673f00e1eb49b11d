// SPDX-License-Identifier: Apache-2.0
// Determines the folders to which the modules of a Puppetfile are installed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/sys/file_system.h"
#include "modules/module/puppetfile.h"

namespace bunraku::module {

/// Reports whether `path` is the folder `base` or below it. Both must be free of links.
bool is_within(std::string_view path, std::string_view base);

struct ModulePaths {
    std::string base;                  ///< the folder of the Puppetfile, with links resolved
    std::vector<std::string> folders;  ///< the containing folder of each module
    std::vector<std::string> targets;  ///< the path of each module
};

/// Determines the paths. Fails if a path is outside of the environment or would replace another
/// module. `moduledir` is the folder given by the user, which may be any folder.
base::Result<ModulePaths> find_module_paths(const Puppetfile& file, const std::string& puppetfile,
                                            const std::string& moduledir, sys::FileSystem& files);

}  // namespace bunraku::module
