// SPDX-License-Identifier: Apache-2.0
// Merges two hashes.
#pragma once

#include "core/value/value.h"

namespace bunraku::value {

/// Implements the language's `left + right`, with the left side's order and the right side's
/// values. Copies the entries and the index but does not hash the keys of `left` again, so that a
/// `reduce` that adds one entry per step stays cheap. If one side is empty, the result shares the
/// other.
Value merged(base::Arena& arena, const HashRep& left, const HashRep& right);

}  // namespace bunraku::value
