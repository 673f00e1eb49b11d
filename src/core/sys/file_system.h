// SPDX-License-Identifier: Apache-2.0
// The file system interface, which lets tests run code that changes files without root and without
// a disk.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/text_view.h"

namespace bunraku::sys {

using base::Result;

enum class FileKind : std::uint8_t { File, Directory, Link, Fifo, Socket, Character, Block };

/// Returns Puppet's name: "file", "directory", "link", "fifo", "socket", "characterSpecial",
/// "blockSpecial".
std::string_view file_kind_name(FileKind kind);

struct FileStatus {
    FileKind kind = FileKind::File;
    std::uint32_t mode = 0;  ///< permission bits only (07777)
    std::uint32_t uid = 0, gid = 0;
    std::uint64_t size = 0, inode = 0, device = 0, links = 1;
    std::int64_t mtime_ns = 0, ctime_ns = 0, atime_ns = 0;
};

/// How to make a file that replaces another. Attributes that are not set stay as the process
/// creates them. With a `mode`, the file has mode 0600 until the mode is applied, so that secrets
/// are never readable in between.
struct WriteOptions {
    std::optional<std::uint32_t> mode;
    std::optional<std::uint32_t> uid, gid;
    bool sync = false;  ///< fsync the file and the folder before returning
};

/// A content that is read piece by piece.
class Reader {
public:
    virtual ~Reader() = default;
    /// Fills the beginning of `into`. Returns the number of bytes, 0 at the end.
    virtual Result<std::size_t> read(std::span<char> into) = 0;
};

/// Writes one piece of the content.
using Write = std::function<Result<void>(std::string_view)>;
/// Writes the whole content piece by piece. After an error or an exception, the partial file must
/// be removed.
using Fill = std::function<Result<void>(const Write&)>;

/// Writes everything that `reader` returns.
Result<void> pump(Reader& reader, const Write& write);

/// Errors have errno in `code`. `message` has its text and the path in the form of Ruby's
/// SystemCallError ("No such file or directory @ rb_sysopen - /x").
class FileSystem {
public:
    virtual ~FileSystem() = default;

    virtual Result<FileStatus> stat(const std::string& path) = 0;   ///< follows links
    virtual Result<FileStatus> lstat(const std::string& path) = 0;  ///< does not follow links
    virtual Result<std::string> read(const std::string& path) = 0;
    /// Calls `chunk` until it returns false or the file ends; for digests of large files.
    virtual Result<void> read_chunks(const std::string& path,
                                     const std::function<bool(std::string_view)>& chunk) = 0;
    virtual Result<std::unique_ptr<Reader>> open(const std::string& path) = 0;
    virtual Result<std::string> read_link(const std::string& path) = 0;
    /// Returns the names in a folder, sorted by bytes, without "." and "..".
    virtual Result<std::vector<std::string>> list(const std::string& path) = 0;
    virtual Result<std::string> real_path(const std::string& path) = 0;
    /// Reports whether this process has the access `how`, as in access(2): R_OK 4, W_OK 2, X_OK 1.
    virtual bool access(const std::string& path, int how) = 0;

    /// Creates the file, or truncates it in place.
    virtual Result<void> write(const std::string& path, std::string_view content,
                               std::uint32_t mode = 0666) = 0;
    virtual Result<void> append(const std::string& path, std::string_view content,
                                std::uint32_t mode = 0666) = 0;
    /// Writes a temporary file with its owner and mode in the same folder and renames it to `path`.
    /// Readers see either the whole old or the whole new content, and never content that they may
    /// not read.
    virtual Result<void> replace_from(const std::string& path, const Fill& fill,
                                      const WriteOptions& options = {}) = 0;
    virtual Result<void> make_directory(const std::string& path, std::uint32_t mode = 0777) = 0;
    /// Writes the entries of a folder to the disk, so that a rename in it survives a loss of power.
    virtual Result<void> sync_directory(const std::string& path) = 0;
    virtual Result<void> make_link(const std::string& target, const std::string& path) = 0;
    virtual Result<void> rename(const std::string& from, const std::string& to) = 0;
    virtual Result<void> remove(const std::string& path) = 0;  ///< removes a file or link
    /// removes an empty folder
    virtual Result<void> remove_directory(const std::string& path) = 0;
    virtual Result<void> set_mode(const std::string& path, std::uint32_t mode) = 0;
    /// Changes the link itself if `path` is a link and `follow` is false. nullopt leaves the owner
    /// or group unchanged.
    virtual Result<void> set_owner(const std::string& path, std::optional<std::uint32_t> uid,
                                   std::optional<std::uint32_t> gid, bool follow) = 0;
    virtual Result<void> set_mtime(const std::string& path, std::int64_t mtime_ns) = 0;

    Result<void> replace(const std::string& path, std::string_view content,
                         const WriteOptions& options = {});
    Result<void> copy(const std::string& from, const std::string& to,
                      const WriteOptions& options = {});

    /// Returns nullopt if there is nothing at `path` (see is_absence). Returns an error if that
    /// cannot be determined.
    Result<std::optional<FileStatus>> look(const std::string& path, bool follow = false);
    /// Reports whether the target of `path` exists, following links. Returns an error if that
    /// cannot be determined.
    Result<bool> there(const std::string& path);
    /// Returns nullopt if there is nothing at `path`, and an error if it exists but cannot be read.
    Result<std::optional<std::string>> read_if_there(const std::string& path);
    /// Replaces a file or link with a link. The old one exists until the new one does.
    Result<void> replace_link(const std::string& target, const std::string& path);
    /// Reports whether `path` exists and can be examined. For code that also works without the
    /// file.
    bool exists(const std::string& path) { return stat(path).has_value(); }
    bool is_directory(const std::string& path);
    bool is_file(const std::string& path);
    /// Does mkdir -p.
    Result<void> make_directories(const std::string& path, std::uint32_t mode = 0777);
    /// Does rm -r. Links are removed, never followed. A missing path is not an error.
    Result<void> remove_all(const std::string& path);
};

/// Reports whether an errno proves that nothing exists at a path. Other errors (no permission, a
/// failing disk, no more descriptors) do not prove an absence.
bool is_absence(int error);

/// Returns the machine's file system.
std::unique_ptr<FileSystem> make_real_file_system();

// Path functions that do not access the disk.

std::string_view base_name(base::TextView path BUNRAKU_LIFETIMEBOUND);
std::string_view directory_name(
    base::TextView path BUNRAKU_LIFETIMEBOUND);  ///< returns "/" for "/x", and "." for "x"
/// Joins with one slash. If `name` is absolute, returns `name`.
std::string join(std::string_view directory, std::string_view name);
/// Resolves "." and ".." and removes double slashes, as text. Relative paths are expanded from
/// `base`.
std::string expand_path(std::string_view path, std::string_view base = {});

}  // namespace bunraku::sys
