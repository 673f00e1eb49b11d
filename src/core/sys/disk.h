// SPDX-License-Identifier: Apache-2.0
// The machine's file system, for code that has no System.
#pragma once

#include "core/sys/file_system.h"

namespace bunraku::sys {

/// Returns the file system of the process. Thread-safe.
FileSystem& disk();

}  // namespace bunraku::sys
