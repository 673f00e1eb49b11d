#pragma once

#include <cstdint>
#include <string>

namespace bunraku::sys {

/// Nanoseconds. File systems stamp by the kernel's tick, some network ones more coarsely still: a
/// change this near to a moment may be one before it or after it.
constexpr std::int64_t kTimesTick = 50'000'000;

/// What tells the file of this program from another build of it: what one has kept another does not
/// take.
std::string own_program_stamp();

/// Whether the file system that `path` stands on is one of this machine whose kernel sets the time
/// of change at every change (not one that is served by another machine or by a program).
bool keeps_change_times(const std::string& path);

}  // namespace bunraku::sys
