// Versions of environments are frozen: what somebody edited or deleted in one is found and undone.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/sys/file_system.h"
#include "modules/module/deploy_folder.h"
#include "modules/module/sources.h"
#include "modules/module/version_manifest.h"

namespace bunraku::module {

/// A version's manifest, and where its folder differs from it.
struct VersionCheck {
    std::optional<VersionManifest> manifest;  ///< nullopt: there is none, nothing can be judged
    VersionManifest::Changes changes;
    /// "modules/web/files/x was edited, data/common.yaml was deleted"
    std::string text() const;
};
base::Result<VersionCheck> check_version(VersionFolders& folders, const std::string& version,
                                         sys::FileSystem& files);

/// Restores what `check` found from the cache: the commit's tree, and the trees of modules. Each
/// file is replaced in one step. Returns the paths that the cache has no longer; they stay as they
/// are.
base::Result<std::vector<std::string>> restore_version(VersionFolders& folders,
                                                       const std::string& version,
                                                       VersionCheck& check, ModuleSources& sources,
                                                       const std::string& remote,
                                                       sys::FileSystem& files);

}  // namespace bunraku::module
