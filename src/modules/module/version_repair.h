// SPDX-License-Identifier: Apache-2.0
// Repair of deployed versions. Versions are read-only; files that were edited or deleted are
// detected and restored.
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

/// The manifest of a version, and the differences of its folder.
struct VersionCheck {
    /// nullopt if the version has none, so that it cannot be checked
    std::optional<VersionManifest> manifest;
    VersionManifest::Changes changes;
    /// Returns, for example, "modules/web/files/x was edited, data/common.yaml was deleted".
    std::string text() const;
};
base::Result<VersionCheck> check_version(VersionFolders& folders, const std::string& version,
                                         sys::FileSystem& files);

/// Restores the differences in `check` from the cached trees of the commit and the modules.
/// Replaces each file in one step. Returns the paths that are no longer cached, which remain
/// unchanged.
base::Result<std::vector<std::string>> restore_version(VersionFolders& folders,
                                                       const std::string& version,
                                                       VersionCheck& check, ModuleSources& sources,
                                                       const std::string& remote,
                                                       sys::FileSystem& files);

}  // namespace bunraku::module
