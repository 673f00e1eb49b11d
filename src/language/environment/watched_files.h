// The machine's files for a process that lives long: it hears of what changes instead of looking.
#pragma once

#include <memory>

#include "language/environment/files.h"

namespace bunraku::environment {

/// The machine's own files; moment() says by inotify whether any path that stat() was asked for has
/// changed since. Where the kernel cannot tell (file systems of a network, no right to read a
/// folder, too few watches) moment() tells nothing, and all is asked for again. A mount over a
/// folder is found within ten seconds (docs/design/0243).
std::shared_ptr<const Files> watched_files();

}  // namespace bunraku::environment
