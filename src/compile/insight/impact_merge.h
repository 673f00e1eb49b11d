// SPDX-License-Identifier: Apache-2.0
// Joins the impacts of parts of a fleet, so that a large fleet needs the memory of one part only.
#pragma once

#include "compile/insight/impact.h"

namespace bunraku::insight {

/// Adds the nodes, groups and notes of `more`, which compared the same states for other nodes.
/// Groups with the same key become one. The groups of `into` are in the order of impact()
/// afterwards.
void merge_impact(Impact& into, Impact more);

}  // namespace bunraku::insight
