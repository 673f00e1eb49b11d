// SPDX-License-Identifier: Apache-2.0
// Restrictions on the values of facts, from Facter's LegacyFacter::Util::Normalization.
#pragma once

#include <string>

#include "core/base/arena.h"
#include "core/value/value.h"

namespace bunraku::facts {

/// Returns Facter's message about what makes this value of a custom or external fact invalid, or ""
/// if it is valid. Strings must be UTF-8 without NUL.
std::string invalid_reason(const value::Value& v);

/// Returns the value with U+FFFD in place of bytes that are not UTF-8. This preserves built-in
/// facts in which, for example, a mount point or a device has such a name.
value::Value scrubbed(base::Arena& arena, const value::Value& v);

}  // namespace bunraku::facts
