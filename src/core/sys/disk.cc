// SPDX-License-Identifier: Apache-2.0
#include "core/sys/disk.h"

namespace bunraku::sys {

FileSystem& disk() {
    static const auto files = make_real_file_system();
    return *files;
}

}  // namespace bunraku::sys
