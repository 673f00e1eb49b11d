// Plugins that differ between two states: agents load them, and no compile reads them.
#pragma once

#include <vector>

#include "compile/insight/changes.h"
#include "language/environment/environment.h"

namespace bunraku::insight {

/// What agents sync of each module (lib and facts.d) and would get otherwise: a Kind::Plugin for
/// each module, with the paths that were changed, added and removed in `after`, a line each. What
/// only servers load of lib (functions, Hiera backends, report processors) is left out.
std::vector<Change> plugin_changes(const environment::Environment& before,
                                   const environment::Environment& after);

}  // namespace bunraku::insight
