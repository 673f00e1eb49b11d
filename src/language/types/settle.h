// Types that outlive the compile in which they were made.
#pragma once

#include "language/types/type.h"

namespace bunraku::types {

/// Resolves all that a type and what it is made of still have open, so that threads may share it.
/// False where something in it cannot be shared: what is found out only in use (Init, Object types,
/// TypeSets), what depends on who was resolved first (recursive aliases), names that nobody knows.
/// Throws PuppetError for aliases that make no sense.
bool settle(Context& ctx, const Type* t);

}  // namespace bunraku::types
