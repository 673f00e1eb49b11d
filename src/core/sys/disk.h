// The machine's files for who has no System at hand.
#pragma once

#include "core/sys/file_system.h"

namespace bunraku::sys {

/// One for the process. Thread-safe.
FileSystem& disk();

}  // namespace bunraku::sys
