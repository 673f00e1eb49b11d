// SPDX-License-Identifier: Apache-2.0
// Finds what changes for a site at another compatibility level: the rows of
// core/config/compatibility.h that affect its configuration, code and modules.
#pragma once

#include <vector>

#include "compile/migration/findings.h"

namespace bunraku::migration {

/// Returns the findings for the level `to`; changes no files. `settings` are those of the site's
/// puppet.conf for a server.
std::vector<MigrationFinding> level_findings(const config::Settings& settings,
                                             config::Compatibility to, base::LogSink& log);

}  // namespace bunraku::migration
