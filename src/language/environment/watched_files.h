// SPDX-License-Identifier: Apache-2.0
// The machine's files for a long-running process. The kernel reports changes, so unchanged files
// need no stat.
#pragma once

#include <memory>

#include "language/environment/files.h"

namespace bunraku::environment {

/// Returns the machine's own files. moment() uses inotify to report whether any path that stat()
/// looked up has changed since. If the kernel cannot watch a path (network file systems, no
/// permission to read a folder, too few watches), moment() returns nullopt and every path is
/// checked again. A mount over a folder is detected within ten seconds (docs/design/0243).
std::shared_ptr<const Files> watched_files();

}  // namespace bunraku::environment
