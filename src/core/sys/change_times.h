// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace bunraku::sys {

/// In nanoseconds. File systems take their timestamps from the kernel's tick, and some network file
/// systems have coarser ones. A change whose timestamp is this close to a moment may be from before
/// or after it.
constexpr std::int64_t kTimesTick = 50'000'000;

/// Returns a stamp that differs between builds of this program. One build does not use the cached
/// data of another.
std::string own_program_stamp();

/// Reports whether the file system that contains `path` is local and its kernel sets the change
/// time at every change. False for file systems that another machine or a program serves.
bool preserves_change_times(const std::string& path);

}  // namespace bunraku::sys
