// SPDX-License-Identifier: Apache-2.0
// The list of entities that queries can name.
#pragma once

#include <vector>

#include "store/query/entity.h"

namespace bunraku::query {

/// Returns the entities that ["from", ..] accepts, sorted by name.
std::vector<const Entity*> all_entities();

}  // namespace bunraku::query
