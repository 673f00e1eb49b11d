// Listening to files, beside the requests: what a server at rest has instead of looking at them
// each few seconds (docs/design/0285).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/sys/executor.h"

namespace bunraku::sys {

/// Runtime::watch() of threads: one that sleeps until the kernel tells something.
std::unique_ptr<Watch> watch_with_thread(std::vector<std::string> paths,
                                         std::function<void()> changed);

}  // namespace bunraku::sys
