// SPDX-License-Identifier: Apache-2.0
// The requirements of modules on the version of Puppet or OpenVox.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "core/base/diagnostic.h"
#include "core/config/compatibility.h"
#include "modules/module/installed.h"

namespace bunraku::module {

/// Returns the requirement of a module that the version at `level` does not meet, or nullopt. At a
/// level of OpenVox, the requirement on `openvox` counts, or the one on `puppet` if there is none.
/// At Puppet's level, only the requirement on `puppet` counts, and a module that requires only
/// `openvox` does not meet it. Unreadable ranges count as met.
std::optional<Dependency> unmet_runtime(std::span<const Dependency> requirements,
                                        config::Compatibility level);
/// Returns, for example, "requires openvox >= 9.0.0, but the version is 8.28.1 (openvox8)".
std::string unmet_runtime_text(const Dependency& unmet, config::Compatibility level);

/// Logs a warning for each module whose requirement is not met, except for those that `before`
/// contains in the same version. `before` may be null.
void warn_of_runtimes(const InstalledModules& modules, const InstalledModules* before,
                      config::Compatibility level, base::LogSink& log);

}  // namespace bunraku::module
