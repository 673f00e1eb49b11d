// SPDX-License-Identifier: Apache-2.0
// The only interface through which compiles read files and environment variables, either of the
// machine or of a commit.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/path_mapping.h"
#include "core/base/result.h"
#include "language/environment/file_fingerprints.h"

namespace bunraku::environment {

/// Read access to files. Thread-safe. Errors have errno in `code`. Lookups that fail although the
/// path may exist (no permission, an unreadable disk) throw base::PuppetError. Compiles use this
/// interface through their environment, which records the reads (environment/trace.h).
class Files {
public:
    virtual ~Files() = default;
    /// Returns the whole content; the error is EISDIR for a folder.
    virtual base::Result<std::string> read(const std::string& path) const = 0;
    /// Returns the stamp of the path and follows links; `exists` is false if nothing is there.
    virtual Stamp stat(const std::string& path) const = 0;
    /// Returns true for a folder; false for a link to a folder.
    virtual bool is_real_folder(const std::string& path) const = 0;
    /// Returns the names in a folder without "." and "..", sorted by bytes. Empty if there is no
    /// folder.
    virtual std::vector<std::string> list(const std::string& path) const = 0;
    /// Returns the target of a link; nullopt if the path is not a link.
    virtual std::optional<std::string> link(const std::string& path) const = 0;
    /// Returns the paths that a shell pattern (braces included) matches, sorted.
    virtual std::vector<std::string> glob(const std::string& pattern) const = 0;
    /// Returns an environment variable. It is always one of this process, even if the files are
    /// those of a commit.
    virtual std::optional<std::string> variable(const std::string& name) const;
    /// Returns the folder in which programs find files that are not on the disk; the first call
    /// writes them there. Null if all files are at their own paths. Throws base::PuppetError.
    virtual const base::PathMapping* moved() const { return nullptr; }
    /// Returns the path under which a program finds `path`.
    std::string place(const std::string& path) const {
        const auto* folder = moved();
        return folder ? folder->placed(path) : path;
    }
    /// Returns a number that changes when the stat() result of any path looked up so far may have
    /// changed. Get the number before you look up the paths. Returns nullopt if changes cannot be
    /// detected.
    virtual std::optional<std::uint64_t> moment() const { return std::nullopt; }
    /// Returns the id of an immutable state of the files, such as the id of a commit. Empty if the
    /// files can change.
    virtual std::string version() const { return {}; }
};

/// Returns the machine's own files.
const std::shared_ptr<const Files>& disk_files();

/// Returns the working directory of this process, to which relative paths of the command line
/// refer.
std::string working_directory();

}  // namespace bunraku::environment
