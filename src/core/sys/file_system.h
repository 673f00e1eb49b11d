// The file system behind an interface, so that what changes files is tested without root and
// without a disk.
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

/// Puppet's names: "file", "directory", "link", "fifo", "socket", "characterSpecial",
/// "blockSpecial".
std::string_view file_kind_name(FileKind kind);

struct FileStatus {
    FileKind kind = FileKind::File;
    std::uint32_t mode = 0;  ///< permission bits only (07777)
    std::uint32_t uid = 0, gid = 0;
    std::uint64_t size = 0, inode = 0, device = 0, links = 1;
    std::int64_t mtime_ns = 0, ctime_ns = 0, atime_ns = 0;
};

/// How a file that replaces another is made. What is not given is left as the process makes it;
/// with a `mode` it is 0600 until that is applied, so that no secret is ever readable in between.
struct WriteOptions {
    std::optional<std::uint32_t> mode;
    std::optional<std::uint32_t> uid, gid;
    bool sync = false;  ///< fsync of file and folder before returning
};

/// A content piece by piece.
class Reader {
public:
    virtual ~Reader() = default;
    /// Fills the beginning of `into`; how much it was, 0 at the end.
    virtual Result<std::size_t> read(std::span<char> into) = 0;
};

/// Takes a piece of what is to be written.
using Write = std::function<Result<void>(std::string_view)>;
/// Gives all of it. An error (or an exception) means that nothing is to be left of it.
using Fill = std::function<Result<void>(const Write&)>;

/// Everything that `reader` gives.
Result<void> pump(Reader& reader, const Write& write);

/// Errors carry errno in `code` and its text with the path in `message`, as Ruby's SystemCallError
/// words it ("No such file or directory @ rb_sysopen - /x").
class FileSystem {
public:
    virtual ~FileSystem() = default;

    virtual Result<FileStatus> stat(const std::string& path) = 0;   ///< follows links
    virtual Result<FileStatus> lstat(const std::string& path) = 0;  ///< does not
    virtual Result<std::string> read(const std::string& path) = 0;
    /// Calls `chunk` until it gives false or the file ends: digests of big files.
    virtual Result<void> read_chunks(const std::string& path,
                                     const std::function<bool(std::string_view)>& chunk) = 0;
    virtual Result<std::unique_ptr<Reader>> open(const std::string& path) = 0;
    virtual Result<std::string> read_link(const std::string& path) = 0;
    /// Names in a folder, sorted by bytes, without "." and "..".
    virtual Result<std::vector<std::string>> list(const std::string& path) = 0;
    virtual Result<std::string> real_path(const std::string& path) = 0;
    /// May this process do so? `how` as in access(2): R_OK 4, W_OK 2, X_OK 1.
    virtual bool access(const std::string& path, int how) = 0;

    /// Creates or truncates in place.
    virtual Result<void> write(const std::string& path, std::string_view content,
                               std::uint32_t mode = 0666) = 0;
    virtual Result<void> append(const std::string& path, std::string_view content,
                                std::uint32_t mode = 0666) = 0;
    /// Writes a temporary file beside `path` with its owner and mode and renames it: readers see
    /// the old or the new whole, and never what is not for them.
    virtual Result<void> replace_from(const std::string& path, const Fill& fill,
                                      const WriteOptions& options = {}) = 0;
    virtual Result<void> make_directory(const std::string& path, std::uint32_t mode = 0777) = 0;
    virtual Result<void> make_link(const std::string& target, const std::string& path) = 0;
    virtual Result<void> rename(const std::string& from, const std::string& to) = 0;
    virtual Result<void> remove(const std::string& path) = 0;            ///< a file or link
    virtual Result<void> remove_directory(const std::string& path) = 0;  ///< an empty one
    virtual Result<void> set_mode(const std::string& path, std::uint32_t mode) = 0;
    /// Of the link itself where `path` is one and `follow` is false. nullopt: stays.
    virtual Result<void> set_owner(const std::string& path, std::optional<std::uint32_t> uid,
                                   std::optional<std::uint32_t> gid, bool follow) = 0;
    virtual Result<void> set_mtime(const std::string& path, std::int64_t mtime_ns) = 0;

    Result<void> replace(const std::string& path, std::string_view content,
                         const WriteOptions& options = {});
    Result<void> copy(const std::string& from, const std::string& to,
                      const WriteOptions& options = {});

    /// None where nothing stands at `path` (is_absence). Of what cannot be looked at nobody knows:
    /// an error.
    Result<std::optional<FileStatus>> look(const std::string& path, bool follow = false);
    /// The same of what a path leads to, links followed: there, not there, or an error.
    Result<bool> there(const std::string& path);
    /// None where nothing stands at `path`; an error where there is something that gives none.
    Result<std::optional<std::string>> read_if_there(const std::string& path);
    /// A link in place of a file or link, which is there until the new one is.
    Result<void> replace_link(const std::string& target, const std::string& path);
    /// Whether it can be looked at, and is there: for what does as well without it.
    bool exists(const std::string& path) { return stat(path).has_value(); }
    bool is_directory(const std::string& path);
    bool is_file(const std::string& path);
    /// mkdir -p.
    Result<void> make_directories(const std::string& path, std::uint32_t mode = 0777);
    /// rm -r: links are removed, never followed. Nothing there is no error.
    Result<void> remove_all(const std::string& path);
};

/// Whether an errno says for certain that nothing can be reached at a path. What else fails (no
/// permission, a sick disk, no more descriptors) tells nothing about what is there.
bool is_absence(int error);

/// The machine's own.
std::unique_ptr<FileSystem> make_real_file_system();

// Path texts, without touching the disk.

std::string_view base_name(base::TextView path BUNRAKU_LIFETIMEBOUND);
std::string_view directory_name(
    base::TextView path BUNRAKU_LIFETIMEBOUND);  ///< "/" of "/x", "." of "x"
/// Joins with one slash; an absolute `name` wins.
std::string join(std::string_view directory, std::string_view name);
/// "." and ".." resolved and double slashes dropped, textually; relative paths stay relative to
/// `base`.
std::string expand_path(std::string_view path, std::string_view base = {});

}  // namespace bunraku::sys
