// SPDX-License-Identifier: Apache-2.0
// Facts as a tree that opens without scripts.
#pragma once

#include <string_view>

#include "core/value/value.h"
#include "services/console/html.h"

namespace bunraku::console {

/// Writes a fact and everything below it. Only branches on a path that contains `search` are open.
void fact_tree(Html& h, std::string_view name, const value::Value& fact, std::string_view search);
/// Reports whether a path or value below the fact contains `search`, ignoring case.
bool fact_matches(std::string_view name, const value::Value& fact, std::string_view search);

}  // namespace bunraku::console
