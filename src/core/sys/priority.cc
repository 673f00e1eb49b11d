// SPDX-License-Identifier: Apache-2.0
#include "core/sys/priority.h"

#include <sys/resource.h>

namespace bunraku::sys {

void lower_thread_priority() {
    constexpr int kNice = 10;
    // On Linux, 0 is the calling thread (setpriority(2), "C library/kernel differences").
    (void)::setpriority(PRIO_PROCESS, 0, kNice);
}

}  // namespace bunraku::sys
