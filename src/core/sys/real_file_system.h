// SPDX-License-Identifier: Apache-2.0
// The machine's files, through system calls. Every change goes through a Place or an open
// descriptor, so that a subclass can decide how paths are resolved.
#pragma once

#include <fcntl.h>
#include <string>
#include <utility>

#include "core/sys/descriptor.h"
#include "core/sys/file_system.h"

namespace bunraku::sys {

/// Returns the error of a failed system call in Ruby's words.
std::unexpected<base::Error> system_failure(int error, std::string_view call,
                                            const std::string& path);

/// A name relative to a folder, for the `*at` system calls.
struct Place {
    Descriptor folder;  ///< if not good, the name is a complete path
    std::string name;
    int at() const { return folder.good() ? folder.get() : AT_FDCWD; }
    const char* c_str() const { return name.c_str(); }
};

class RealFileSystem : public FileSystem {
public:
    Result<FileStatus> stat(const std::string& path) override;
    Result<FileStatus> lstat(const std::string& path) override;
    Result<std::string> read(const std::string& path) override;
    Result<void> read_chunks(const std::string& path,
                             const std::function<bool(std::string_view)>& chunk) override;
    Result<std::unique_ptr<Reader>> open(const std::string& path) override;
    Result<std::string> read_link(const std::string& path) override;
    Result<std::vector<std::string>> list(const std::string& path) override;
    Result<std::string> real_path(const std::string& path) override;
    bool access(const std::string& path, int how) override;
    Result<void> write(const std::string& path, std::string_view content,
                       std::uint32_t mode) override;
    Result<void> append(const std::string& path, std::string_view content,
                        std::uint32_t mode) override;
    Result<void> replace_from(const std::string& path, const Fill& fill,
                              const WriteOptions& options) override;
    Result<void> make_directory(const std::string& path, std::uint32_t mode) override;
    Result<void> sync_directory(const std::string& path) override;
    Result<void> make_link(const std::string& target, const std::string& path) override;
    Result<void> rename(const std::string& from, const std::string& to) override;
    Result<void> remove(const std::string& path) override;
    Result<void> remove_directory(const std::string& path) override;
    Result<void> set_mode(const std::string& path, std::uint32_t mode) override;
    Result<void> set_owner(const std::string& path, std::optional<std::uint32_t> uid,
                           std::optional<std::uint32_t> gid, bool follow) override;
    Result<void> set_mtime(const std::string& path, std::int64_t mtime_ns) override;

protected:
    enum class Last : std::uint8_t { Follow, Keep };

    /// Opens a file and follows links. `call` is the name of the call in Ruby's error text.
    virtual Result<Descriptor> open_file(const std::string& path, int flags, std::uint32_t mode,
                                         std::string_view call);
    /// Returns the place of `path`. `last` decides whether a link at its end is followed.
    virtual Result<Place> place(const std::string& path, Last last, std::string_view call);
    /// Returns the names in an open folder, sorted; `path` is for errors.
    static Result<std::vector<std::string>> names_in(Descriptor folder, const std::string& path);
    /// Returns the flags for calls on a Place whose last link is already followed.
    virtual int follow_flags() const { return 0; }

private:
    template <class F>
    Result<void> each_chunk(const std::string& path, std::string* reserve, const F& chunk);
    Result<void> put(const std::string& path, std::string_view content, std::uint32_t mode,
                     int how);
};

}  // namespace bunraku::sys
