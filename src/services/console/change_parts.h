// SPDX-License-Identifier: Apache-2.0
// Parts of the page Change: groups of changes with their values, causes and nodes.
#pragma once

#include "compile/insight/impact.h"
#include "services/console/html.h"

namespace bunraku::console {

/// Reports whether a group wants a decision before the change is used: failures, conflicts and
/// findings.
bool is_problem(const insight::Group& group);
/// Writes a group. `number` is its index, for the ids of elements.
void write_change_group(Html& h, const insight::Impact& impact, std::size_t number);

}  // namespace bunraku::console
