// Hearing from the kernel of what changes instead of looking again and again.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "core/sys/descriptor.h"

namespace bunraku::sys {

/// Whether anything has changed by which stat() would answer otherwise for paths that were named:
/// for one thread at a time (docs/design/0243). Nothing to hear from (file systems of a network, no
/// right to read a folder, too few watches): then it is not known. A mount anywhere counts as a
/// change, but not more often than each five seconds; where nothing is heard of mounts, five
/// seconds do.
class FileChanges {
public:
    FileChanges();
    ~FileChanges();
    FileChanges(const FileChanges&) = delete;
    FileChanges& operator=(const FileChanges&) = delete;

    /// From now on it matters, until moment() is another.
    void add(const std::string& path);
    /// While this number is the same, nothing has changed of what was added; nullopt: not known.
    /// Numbers of different objects never meet.
    std::optional<std::uint64_t> moment();
    /// False: what was added cannot be heard of.
    bool hears() const { return !blind_; }
    /// Sleeps until there may be something to hear, `other` is readable, or time is over. True:
    /// `other` is.
    bool wait(int other, std::chrono::milliseconds time);

private:
    /// What matters of the events of one watch.
    struct Watch {
        std::unordered_set<std::string> names;
        bool everything = false;  ///< each change of what is in the folder, or of the file
        bool contents = false;    ///< it tells what is written to files
    };
    void open();
    void close();
    void hear_of_mounts();
    void begin_anew();
    void hear();
    bool matters(const void* event);
    Watch* listen(const std::string& path, std::uint32_t to);
    Watch* folder(const std::string& path);

    const Descriptor mounts_;  ///< the kernel's table of them
    int descriptor_ = -1;
    bool blind_ = false;
    bool mounted_ = false;  ///< something, since begun_
    std::uint64_t number_;
    std::chrono::steady_clock::time_point begun_, asked_;  ///< anew; whether there were mounts
    std::unordered_map<int, Watch> watches_;
    std::unordered_set<std::string> known_;            ///< paths whose every folder is watched
    std::unordered_map<std::string, Watch*> folders_;  ///< real ones
};

}  // namespace bunraku::sys
