// SPDX-License-Identifier: Apache-2.0
// A cache of content digests. A file that has not changed since it was last read need not be read
// again.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "core/base/arena.h"
#include "core/base/lifetime.h"
#include "core/sys/system.h"

namespace bunraku::apply {

/// A cache of the digests of large files. A digest is valid as long as the file's device, inode,
/// size, mtime and ctime are unchanged. No program can set the ctime. No digest is stored if the
/// ctime cannot distinguish two states: if the file changed just before it was read, or if its file
/// system has no ctime. git's index follows the same rule. Small files are cheap to read and are
/// not cached, because a write through a memory mapping updates the ctime only when the page is
/// written back.
class ContentMemory {
public:
    struct Settings {
        std::string file;              ///< the file in which the cache is stored between runs
        std::int64_t interval_ns = 0;  ///< maximum age of a digest
        /// Reports whether the file system below `path` maintains the ctime itself.
        bool (*preserves_change_times)(const std::string& path) = nullptr;
    };
    ContentMemory(sys::System& system, Settings settings)
        : system_(system), settings_(std::move(settings)) {}

    /// Loads the cache. Ignores a file that is incomplete or that other users can write.
    void load();
    /// Writes the cache if it has changed.
    void save();

    /// Returns the digest ("{sha256}...") if the file is unchanged since it was computed. The
    /// digest lives as long as the cache.
    std::optional<std::string_view> digest(std::string_view path, std::string_view kind,
                                           const sys::FileStatus& now) BUNRAKU_LIFETIMEBOUND;
    /// Stores a digest. `before` is the status of the file when the read, which has now finished,
    /// began.
    void remember(const std::string& path, std::string_view kind, const sys::FileStatus& before,
                  std::int64_t begun_ns, std::string_view digest);

    /// Minimum size in bytes of the files that are cached.
    static constexpr std::uint64_t kLarge = 64 * 1024;

private:
    struct Entry {
        std::string_view path, kind, digest;
        std::uint64_t device = 0, inode = 0, size = 0;
        std::int64_t mtime_ns = 0, ctime_ns = 0, read_ns = 0;
        bool of(const sys::FileStatus& s) const;
    };
    bool parse(std::string_view text);
    Entry* find(std::string_view path, std::string_view kind);
    bool trusts(const std::string& path, std::uint64_t device);
    bool good(const Entry& entry) const;

    sys::System& system_;
    Settings settings_;
    /// The storage that entries point to: the text of the cache file, and `arena_` for new entries.
    std::unique_ptr<std::string> text_ = std::make_unique<std::string>();
    std::unique_ptr<base::Arena> arena_ = std::make_unique<base::Arena>();
    std::vector<Entry> entries_;
    /// the expected next entry; runs read files in the order of the previous run
    std::size_t next_ = 0;
    std::unordered_map<std::string, std::size_t> index_;
    bool indexed_ = false, changed_ = false;
    std::map<std::uint64_t, bool> devices_;
};

}  // namespace bunraku::apply
