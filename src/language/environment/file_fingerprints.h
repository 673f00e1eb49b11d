// SPDX-License-Identifier: Apache-2.0
// Records the files and folders that a result was made from, and checks whether they have changed.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>

namespace bunraku::environment {

/// The attributes that distinguish two states of a path without reading it.
struct Stamp {
    std::int64_t mtime_ns = 0;
    std::uint64_t size = 0, inode = 0;
    bool exists = false;
    bool directory = false;
    /// True if the path was written so shortly before the stat that a later write might leave the
    /// same stamp (a racy timestamp).
    bool fresh = false;

    /// Returns true only if the content is certainly the same. A racy stamp equals no other stamp.
    bool same(const Stamp& now) const {
        return !fresh && mtime_ns == now.mtime_ns && size == now.size && inode == now.inode &&
               exists == now.exists && directory == now.directory;
    }
};

class Files;

/// Stamps of paths that a result was made from. Thread-safe. Record a path before it is read.
class FileFingerprints {
public:
    /// Uses `files` instead of the disk. `files` must outlive this object.
    void read_from(const Files& files) { files_ = &files; }
    /// Records the stamp of `path`. If the path does not exist, records the stamp of its nearest
    /// existing parent, which changes when the path appears. An existing record is not replaced.
    /// Paths below a folder that was missing are not looked up again.
    Stamp record(const std::string& path);
    /// Reports whether all recorded paths still have their stamps (one stat each).
    bool unchanged() const;
    std::size_t size() const;
    /// Returns every recorded path, in no order.
    std::vector<std::pair<std::string, Stamp>> noted() const;

private:
    Stamp look(const std::string& path) const;

    const Files* files_ = nullptr;
    /// Files::moment() of the last successful check; 0 means never.
    mutable std::atomic<std::uint64_t> unchanged_at_{0};
    mutable std::mutex mutex_;
    std::unordered_map<std::string, Stamp> stamps_;
    /// Folders that did not exist. The nearest existing parent of each is in `stamps_`.
    std::unordered_set<std::string> missing_;
};

}  // namespace bunraku::environment
