// SPDX-License-Identifier: Apache-2.0
// Detects local changes to installed modules, so that they are never overwritten without a request.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/sys/file_system.h"

namespace bunraku::module {

/// Maps a module's files and links to their kind, executable bit, and digest or target. Excludes
/// `.git` and REVISION, which describe the module but are not part of it.
using TreeManifest = std::map<std::string, std::string>;

/// The file system's metadata of each file when its content was read: size, times and inode number.
/// While they are the same, the content is unchanged.
using FileStamps = std::map<std::string, std::string>;
/// A manifest from an earlier run.
struct KnownFiles {
    TreeManifest manifest;
    FileStamps stamps;
    /// time of the record; a file changed at about this time may have changed again
    std::int64_t recorded_ns = 0;
};

/// Reads the manifest of a folder. Files that are unchanged since `known` are not read. Sets
/// `stamps` to the stamps of all files. Sets `reread` if a file was read that need not be read next
/// time once the new stamps are recorded.
base::Result<TreeManifest> read_manifest(sys::FileSystem& files, const std::string& folder,
                                         const KnownFiles* known = nullptr,
                                         FileStamps* stamps = nullptr, bool* reread = nullptr);
/// Returns the paths that differ or are in only one of the manifests.
std::vector<std::string> differing(const TreeManifest& a, const TreeManifest& b);

/// Records of installed modules. They are stored outside of the modules, which contain only the
/// files that were shipped. If a record is lost, local changes can no longer be detected reliably.
class InstallRecords {
public:
    InstallRecords(sys::FileSystem& files, std::string folder)
        : files_(files), folder_(std::move(folder)) {}
    /// `identity` is the installed content: a version or a commit.
    base::Result<void> keep(const std::string& target, std::string_view identity,
                            const TreeManifest& manifest, const FileStamps& stamps = {});
    /// Returns the identity of the last installation as `target`, or an empty string if unknown.
    std::string identity(const std::string& target);
    /// Returns the recorded files of `target`, or nullopt if there is no record of `identity` for
    /// it.
    std::optional<KnownFiles> find(const std::string& target, std::string_view identity);

private:
    std::string path_of(const std::string& target) const;
    sys::FileSystem& files_;
    std::string folder_;
};

}  // namespace bunraku::module
