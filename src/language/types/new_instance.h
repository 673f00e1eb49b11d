// The constructors of types: what `Integer.new`, `My::Car(..)` and Init[T] accept.
#pragma once

#include <vector>

#include "language/types/mismatch.h"

namespace bunraku::types {

/// The signatures of `t`'s constructor, in order of dispatch. Throws PuppetError ("Creation of new
/// instance of type '..' is not supported").
std::vector<Signature> constructor_signatures(Context& ctx, const Type* t);

}  // namespace bunraku::types
