// SPDX-License-Identifier: Apache-2.0
#include "core/base/jitter.h"

#include <random>

#include "core/base/assert.h"

namespace bunraku::base {

std::int64_t random_between(std::int64_t least, std::int64_t most) {
    BUNRAKU_ASSERT(least <= most);
    std::random_device source;
    return std::uniform_int_distribution<std::int64_t>(least, most)(source);
}

}  // namespace bunraku::base
