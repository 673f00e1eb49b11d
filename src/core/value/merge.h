// Two hashes become one.
#pragma once

#include "core/value/value.h"

namespace bunraku::value {

/// `left + right` of the language: the left side's order, the right side's values. Costs a copy of
/// the entries and of the index, but hashes no key of `left` again, so that a `reduce` that adds an
/// entry a round stays cheap. Shares a side where the other is empty.
Value merged(base::Arena& arena, const HashRep& left, const HashRep& right);

}  // namespace bunraku::value
