// SPDX-License-Identifier: Apache-2.0
// Resolves types that outlive the compile in which they were made.
#pragma once

#include "language/types/type.h"

namespace bunraku::types {

/// Resolves all unresolved parts of a type so that threads may share it. Returns false if a part
/// cannot be shared. Such parts are types resolved during use (Init, Object types, TypeSets),
/// recursive aliases, whose result depends on the order of resolution, and unknown names. Throws
/// PuppetError for invalid aliases.
bool settle(Context& ctx, const Type* t);

}  // namespace bunraku::types
