// SPDX-License-Identifier: Apache-2.0
// Output formats of compiled catalogs.
#pragma once

#include <string>

#include "core/value/value.h"

namespace bunraku::catalog {

/// Returns the containment graph of a catalog in Graphviz format. `catalog` is the parsed agent
/// format.
std::string dot_graph(const value::Value& catalog);

}  // namespace bunraku::catalog
