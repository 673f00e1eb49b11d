// SPDX-License-Identifier: Apache-2.0
// Notes of an impact about modules that its compiles lack.
#pragma once

#include "compile/insight/fleet_selection.h"
#include "compile/insight/impact.h"

namespace bunraku::insight {

/// Adds notes about different Puppetfiles of the two states, submodules whose commits are not
/// available, and modules of the Puppetfile that are not installed.
void add_module_notes(site::Site& site, const FleetSelection& fleet, const Comparison& comparison,
                      Impact& impact);

}  // namespace bunraku::insight
