// SPDX-License-Identifier: Apache-2.0
// Detects file changes through the kernel's notifications instead of polling.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "core/sys/descriptor.h"

namespace bunraku::sys {

/// Detects whether stat() may return another result for any of the added paths. For use by one
/// thread at a time (docs/design/0243).
///
/// The answer is unknown if notifications are not available: network file systems, folders without
/// read permission, too few inotify watches. Any mount counts as a change, at most once in five
/// seconds. If mounts cannot be observed, every interval of five seconds counts as a change.
class FileChanges {
public:
    FileChanges();
    ~FileChanges();
    FileChanges(const FileChanges&) = delete;
    FileChanges& operator=(const FileChanges&) = delete;

    /// Starts to observe `path`, until moment() returns another number.
    void add(const std::string& path);
    /// Returns a number that stays the same as long as none of the added paths has changed. Returns
    /// nullopt if this is unknown. Numbers of different objects are never equal.
    std::optional<std::uint64_t> moment();
    /// Returns false if some of the added paths cannot be observed.
    bool hears() const { return !unobservable_; }
    /// Sleeps until there may be events, `other` is readable, or the time is over. Returns true if
    /// `other` is readable.
    bool wait(int other, std::chrono::milliseconds time);

private:
    /// The relevant events of one watch.
    struct Watch {
        std::unordered_set<std::string> names;
        /// true if every change in the folder, or of the file, is relevant
        bool everything = false;
        bool contents = false;  ///< true if writes to files are reported
    };
    void open();
    void close();
    void check_for_mounts();
    void forget_paths();
    void read_events();
    bool matters(const void* event);
    Watch* add_watch(const std::string& path, std::uint32_t to);
    Watch* folder(const std::string& path);

    const Descriptor mounts_;  ///< the kernel's mount table
    int descriptor_ = -1;
    bool unobservable_ = false;
    bool mounted_ = false;  ///< true if something was mounted since begun_
    std::uint64_t number_;
    /// times of the last restart and of the last check for mounts
    std::chrono::steady_clock::time_point begun_, asked_;
    std::unordered_map<int, Watch> watches_;
    std::unordered_set<std::string> known_;            ///< paths with all their folders watched
    std::unordered_map<std::string, Watch*> folders_;  ///< keys are real paths
};

}  // namespace bunraku::sys
