// SPDX-License-Identifier: Apache-2.0
// Plugins that differ between two states. Agents download them, but no compile reads them.
#pragma once

#include <vector>

#include "compile/insight/changes.h"
#include "language/environment/environment.h"

namespace bunraku::insight {

/// Returns a Kind::Plugin for each module whose synced files (lib and facts.d) differ. `after`
/// lists the changed, added and removed paths, one per line. Files in lib that only servers load
/// (functions, Hiera backends, report processors) are left out.
std::vector<Change> plugin_changes(const environment::Environment& before,
                                   const environment::Environment& after);

}  // namespace bunraku::insight
