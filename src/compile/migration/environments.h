// SPDX-License-Identifier: Apache-2.0
// The environments of a site, for the checks of the migration.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/config/settings.h"
#include "core/sys/file_system.h"
#include "language/environment/environment.h"

namespace bunraku::migration {

/// Returns the folders of all environments in the environmentpath, sorted.
std::vector<std::string> environment_folders(const config::Settings& settings,
                                             sys::FileSystem& files);
/// Opens the environment in a folder. Throws base::PuppetError if it cannot be opened.
std::shared_ptr<const environment::Environment> open_environment(const config::Settings& settings,
                                                                 const std::string& folder,
                                                                 base::LogSink& log);

}  // namespace bunraku::migration
