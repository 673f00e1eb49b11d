#pragma once

#include <string>

namespace bunraku::sys {

/// Whether the file system that `path` stands on is one of this machine whose kernel sets the time
/// of change at every change (not one that is served by another machine or by a program).
bool keeps_change_times(const std::string& path);

}  // namespace bunraku::sys
