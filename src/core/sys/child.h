// SPDX-License-Identifier: Apache-2.0
// Starts a child process: all steps from its first instruction to the start of its program.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace bunraku::sys {

/// The attributes of a new child. Its descriptors (`in`, `out`, `err`) are above 4, or are those of
/// this process; `second_channel` is above 4.
struct ChildPlan {
    std::string program;  ///< a path
    std::vector<std::string> arguments, environment;
    std::vector<gid_t> groups;
    bool set_groups = false;
    std::optional<std::uint32_t> uid, gid, umask;
    std::string cwd;
    int in = -1, out = -1, err = -1;
    int channel = -1;         ///< becomes descriptor 3; -1 means none
    int second_channel = -1;  ///< becomes descriptor 4, in addition to `channel`; -1 means none
};

struct SpawnResult {
    int pid = -1;
    /// errno of the first failure; if `pid` is positive, that child has already been reaped
    int error = 0;
};

SpawnResult start_child(const ChildPlan& plan);

}  // namespace bunraku::sys
