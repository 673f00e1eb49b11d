// Where the modules of a Puppetfile go.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/sys/file_system.h"
#include "modules/module/puppetfile.h"

namespace bunraku::module {

/// Is `path` the folder `base`, or below it? Both without links.
bool is_within(std::string_view path, std::string_view base);

struct ModulePaths {
    std::string base;                  ///< the Puppetfile's folder, its links followed
    std::vector<std::string> folders;  ///< of each module
    std::vector<std::string> targets;  ///< of each module: where it stands
};

/// Nothing outside of the environment, nothing that would swallow another module. `moduledir`: what
/// whoever runs the command has named, which may be any folder.
base::Result<ModulePaths> find_module_paths(const Puppetfile& file, const std::string& puppetfile,
                                            const std::string& moduledir, sys::FileSystem& files);

}  // namespace bunraku::module
