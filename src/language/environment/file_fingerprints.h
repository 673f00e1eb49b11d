// Which files and folders an answer was made from, and whether they still are what they were.
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

/// What tells two states of a path apart without reading it.
struct Stamp {
    std::int64_t mtime_ns = 0;
    std::uint64_t size = 0, inode = 0;
    bool exists = false;
    bool directory = false;
    /// Written so shortly before the look that a later write might leave the same stamp.
    bool fresh = false;

    /// Surely the same content: a fresh stamp equals nothing.
    bool same(const Stamp& now) const {
        return !fresh && mtime_ns == now.mtime_ns && size == now.size && inode == now.inode &&
               exists == now.exists && directory == now.directory;
    }
};

class Files;

/// Thread-safe. Note a path before it is read.
class FileFingerprints {
public:
    /// Where it looks, else on the disk; it must live as long.
    void read_from(const Files& files) { files_ = &files; }
    /// Remembers the path as it is now; of a path that is not there, the nearest folder above it,
    /// whose change will tell of its appearing. What was noted before stays as it was, and what is
    /// below a folder that was missing is not looked for again.
    Stamp record(const std::string& path);
    /// Looks at every noted path again (one stat each).
    bool unchanged() const;
    std::size_t size() const;
    /// Every noted path, in no order.
    std::vector<std::pair<std::string, Stamp>> noted() const;

private:
    Stamp look(const std::string& path) const;

    const Files* files_ = nullptr;
    mutable std::atomic<std::uint64_t> unchanged_at_{0};  ///< Files::moment(); 0: never
    mutable std::mutex mutex_;
    std::unordered_map<std::string, Stamp> stamps_;
    /// Folders that were not there; the nearest one above each is among the stamps.
    std::unordered_set<std::string> missing_;
};

}  // namespace bunraku::environment
