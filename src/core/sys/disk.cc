// SPDX-License-Identifier: Apache-2.0
#include "core/sys/disk.h"

namespace bunraku::sys {

FileSystem& disk() {
    // Never destroyed, because destructors of other static objects may use it.
    static FileSystem& files = *make_real_file_system().release();
    return files;
}

}  // namespace bunraku::sys
