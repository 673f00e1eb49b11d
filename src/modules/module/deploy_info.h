// SPDX-License-Identifier: Apache-2.0
// Files that r10k creates in an environment's folder and that other tools read: .r10k-deploy.json
// and .git.
#pragma once

#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/sys/file_system.h"

namespace bunraku::module {

struct DeployInfo {
    struct Module {
        std::string name, version;
        std::string sha;  ///< for git only
    };
    std::string name, signature;
    std::time_t started = 0, finished = 0;
    std::vector<Module> modules;
    std::string text() const;
};

/// Returns the modules of the record in `folder`. Empty if the record does not exist.
std::vector<DeployInfo::Module> deployed_modules(sys::FileSystem& files, const std::string& folder);

/// Creates `folder`/.git: a minimal repository for tools that read the commit from it. It uses the
/// objects of the mirror at `mirror`.
base::Result<void> make_git_folder(sys::FileSystem& files, const std::string& folder,
                                   const std::string& commit, const std::string& mirror);

}  // namespace bunraku::module
