// SPDX-License-Identifier: Apache-2.0
#include "core/sys/change_times.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>
#include <linux/magic.h>
#include <sys/vfs.h>

#include "core/sys/disk.h"

namespace bunraku::sys {

std::string own_program_stamp() {
    const auto own = disk().stat("/proc/self/exe");
    return own ? fmt::format("{} {} {}", own->inode, own->size, own->mtime_ns) : "";
}

bool preserves_change_times(const std::string& path) {
    // ext2, ext3 and ext4 share one number. The header does not define those of xfs, zfs and
    // bcachefs.
    constexpr unsigned long kKnown[] = {EXT4_SUPER_MAGIC, BTRFS_SUPER_MAGIC,     TMPFS_MAGIC,
                                        F2FS_SUPER_MAGIC, OVERLAYFS_SUPER_MAGIC, 0x58465342UL,
                                        0x2fc12fc1UL,     0xca451a4eUL};
    struct statfs found{};
    if (::statfs(path.c_str(), &found) != 0) return false;
    const auto type = static_cast<unsigned long>(static_cast<unsigned>(found.f_type));
    return std::find(std::begin(kKnown), std::end(kKnown), type) != std::end(kKnown);
}

}  // namespace bunraku::sys
