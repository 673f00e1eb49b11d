// SPDX-License-Identifier: Apache-2.0
// The constructors of types: the arguments that `Integer.new`, `My::Car(..)` and Init[T] accept.
#pragma once

#include <vector>

#include "language/types/mismatch.h"

namespace bunraku::types {

/// Returns the signatures of `t`'s constructor in dispatch order. Throws PuppetError ("Creation of
/// new instance of type '..' is not supported").
std::vector<Signature> constructor_signatures(Context& ctx, const Type* t);

}  // namespace bunraku::types
