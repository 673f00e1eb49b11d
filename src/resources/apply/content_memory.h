// What contents had which digest when they were last read: a file that nobody touched since then
// need not be read again.
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

/// Only of files for which reading costs something: a write through a mapping moves the time of
/// change when the page is written back, so that a small file is better read each time.
/// A digest counts as long as device, inode, size and both times of the file are those of then.
/// Nobody can set the time of change; where that may not tell one state from another (the file was
/// changed just before it was read, a file system that keeps no such time) nothing is remembered,
/// as git's index has it.
class ContentMemory {
public:
    struct Settings {
        std::string file;              ///< where it stands between runs
        std::int64_t interval_ns = 0;  ///< a digest older than this is made anew
        /// Whether the file system below `path` moves the time of change by itself.
        bool (*keeps_change_times)(const std::string& path) = nullptr;
    };
    ContentMemory(sys::System& system, Settings settings)
        : system_(system), settings_(std::move(settings)) {}

    /// A file that others could have written, or that is not whole, is as none.
    void load();
    /// Writes it where there is anything new.
    void save();

    /// "{sha256}...", if the file is still the one it was made of. It lives as long as the memory.
    std::optional<std::string_view> digest(std::string_view path, std::string_view kind,
                                           const sys::FileStatus& now) BUNRAKU_LIFETIMEBOUND;
    /// `before` was the state of the file when the reading, which is over now, began.
    void remember(const std::string& path, std::string_view kind, const sys::FileStatus& before,
                  std::int64_t begun_ns, std::string_view digest);

    /// Files of at least so many bytes are remembered.
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
    /// What entries are made of: the text of the file, and what came since.
    std::unique_ptr<std::string> text_ = std::make_unique<std::string>();
    std::unique_ptr<base::Arena> arena_ = std::make_unique<base::Arena>();
    std::vector<Entry> entries_;
    std::size_t next_ = 0;  ///< runs ask in the order of the last one
    std::unordered_map<std::string, std::size_t> index_;
    bool indexed_ = false, changed_ = false;
    std::map<std::uint64_t, bool> devices_;
};

}  // namespace bunraku::apply
