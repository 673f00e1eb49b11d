// SPDX-License-Identifier: Apache-2.0
// The manifest of a deployed version: digests of its files, used to detect, report and revert
// edits.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/sys/file_system.h"

namespace bunraku::module {

/// A file or link as deployed. A file whose size and times are unchanged need not be read.
struct ManifestEntry {
    bool link = false, executable = false;
    std::string content;  ///< SHA-256 of a file, or the target of a link
    std::uint64_t size = 0;
    std::int64_t mtime_ns = 0, ctime_ns = 0;
};

/// Entries by path below the version's folder. Contains only deployed files, not those carried
/// over.
class VersionManifest {
public:
    using Entries = std::map<std::string, ManifestEntry, std::less<>>;

    /// Adds all files below `folder` whose paths begin with `prefix` ("" or "DIRECTORY/"). Removes
    /// their write permission and reads them. For hard links to files in `earlier_folder`, uses the
    /// digests of `earlier`.
    base::Result<void> add(sys::FileSystem& files, const std::string& folder,
                           const std::string& prefix, const VersionManifest& earlier,
                           const std::string& earlier_folder);
    /// Copies the entries of `earlier` below `prefix`, for files that were copied to `folder`.
    void adopt(sys::FileSystem& files, const std::string& folder, const std::string& prefix,
               const VersionManifest& earlier);
    bool holds(std::string_view prefix) const;  ///< reports whether there is an entry below
    void forget(const std::string& prefix);
    /// Parses the result of `text`. Fails if a line is invalid.
    static base::Result<VersionManifest> read(std::string_view text);
    std::string text() const;

    /// Sorted paths that differ from the manifest.
    struct Changes {
        std::vector<std::string> edited, deleted;
        bool any() const { return !edited.empty() || !deleted.empty(); }
    };
    /// Compares `folder` with the manifest. Files with unchanged size and times are not read. If a
    /// file had to be read and its content is right, its new times are stored in the manifest, and
    /// `refreshed` is set.
    Changes compare(sys::FileSystem& files, const std::string& folder, bool& refreshed);

    /// Copies the file or link at `from` to `path` in `folder` in one step, if it matches the
    /// manifest. Returns false if it does not match.
    base::Result<bool> restore(sys::FileSystem& files, const std::string& folder,
                               const std::string& path, const std::string& from);

    const Entries& entries() const { return entries_; }
    /// Returns the SHA-256 of all paths, contents and executable bits. It is the same on every
    /// machine.
    std::string digest() const;

private:
    Entries entries_;
};

/// Returns the SHA-256 of a file in hexadecimal.
base::Result<std::string> file_sha256(sys::FileSystem& files, const std::string& path);

}  // namespace bunraku::module
