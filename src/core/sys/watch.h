// SPDX-License-Identifier: Apache-2.0
// File watches that notify a server about changes, so that an idle server does not poll files every
// few seconds (docs/design/0285).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/sys/executor.h"

namespace bunraku::sys {

/// Implements Runtime::watch() with a thread that sleeps until the kernel reports a change.
std::unique_ptr<Watch> watch_with_thread(std::vector<std::string> paths,
                                         std::function<void()> changed);

}  // namespace bunraku::sys
