// SPDX-License-Identifier: Apache-2.0
// Random delays, so that clients that were refused or started together do not come back together.
#pragma once

#include <cstdint>

namespace bunraku::base {

/// Returns a random number from `least` to `most`, both included. Not for secrets.
std::int64_t random_between(std::int64_t least, std::int64_t most);

}  // namespace bunraku::base
