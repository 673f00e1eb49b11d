// SPDX-License-Identifier: Apache-2.0
// How pages show the explanation of a value.
#pragma once

#include <vector>

#include "compile/insight/explain.h"
#include "services/console/html.h"

namespace bunraku::console {

/// Writes the reasons as a tree: each with its value, and with file and line at the right. Levels
/// of Hiera that have the key stand out.
void why_tree(Html& h, const std::vector<insight::Reason>& reasons);

}  // namespace bunraku::console
