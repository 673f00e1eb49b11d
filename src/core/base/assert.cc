// SPDX-License-Identifier: Apache-2.0
#include "core/base/assert.h"

#include <cstdio>
#include <cstdlib>

namespace bunraku::base {

void assertion_failed(const char* condition, const char* file, int line) {
    std::fprintf(stderr, "%s:%d: assertion failed: %s\n", file, line, condition);
    std::abort();
}

}  // namespace bunraku::base
