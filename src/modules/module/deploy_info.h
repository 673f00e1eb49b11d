// What r10k leaves in an environment's folder, and other tools read: .r10k-deploy.json, .git.
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
        std::string sha;  ///< of git alone
    };
    std::string name, signature;
    std::time_t started = 0, finished = 0;
    std::vector<Module> modules;
    std::string text() const;
};

/// The modules of the record in `folder`; empty where there is none.
std::vector<DeployInfo::Module> deployed_modules(sys::FileSystem& files, const std::string& folder);

/// Makes `folder`/.git: enough of a repository for what asks it for its commit, with the objects of
/// the mirror at `mirror`.
base::Result<void> make_git_folder(sys::FileSystem& files, const std::string& folder,
                                   const std::string& commit, const std::string& mirror);

}  // namespace bunraku::module
