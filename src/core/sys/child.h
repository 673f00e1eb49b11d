// The birth of a child process: everything that happens between its first instruction and its
// program's.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

namespace bunraku::sys {

/// What a child is to be. Its descriptors (`in`, `out`, `err`) are above 4, or those of this
/// process; `second_channel` is above 4.
struct ChildPlan {
    std::string program;  ///< a path
    std::vector<std::string> arguments, environment;
    std::vector<gid_t> groups;
    bool set_groups = false;
    std::optional<std::uint32_t> uid, gid, umask;
    std::string cwd;
    int in = -1, out = -1, err = -1;
    int channel = -1;         ///< what it finds as number 3; -1: nothing
    int second_channel = -1;  ///< what it finds as number 4 beside a channel; -1: nothing
};

struct SpawnResult {
    int pid = -1;
    int error = 0;  ///< errno of what failed first; with a pid that child is gone again
};

SpawnResult start_child(const ChildPlan& plan);

}  // namespace bunraku::sys
