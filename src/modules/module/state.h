// Whether an installed module is still what was installed: what somebody changed is never
// overwritten unasked.
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

/// A module's files and links -> what each is: kind, executable or not, digest or target. Without
/// `.git` and REVISION, which are about the module, not of it.
using TreeManifest = std::map<std::string, std::string>;

/// What the file system says of a file whose content was read: size, times, number. As long as it
/// says that the content is what it was.
using FileStamps = std::map<std::string, std::string>;
/// A manifest from before.
struct KnownFiles {
    TreeManifest manifest;
    FileStamps stamps;
    std::int64_t recorded_ns = 0;  ///< what changed about then may have changed once more
};

/// `known`: what need not be read again. `stamps` gets those of all files; `reread`: was a file
/// read that the next time will not be?
base::Result<TreeManifest> read_manifest(sys::FileSystem& files, const std::string& folder,
                                         const KnownFiles* known = nullptr,
                                         FileStamps* stamps = nullptr, bool* reread = nullptr);
/// Paths that are in only one of both, or differ.
std::vector<std::string> differing(const TreeManifest& a, const TreeManifest& b);

/// What was put where. Kept outside of the modules, which hold nothing that was not shipped; a
/// record that got lost costs only certainty.
class InstallRecords {
public:
    InstallRecords(sys::FileSystem& files, std::string folder)
        : files_(files), folder_(std::move(folder)) {}
    /// `identity` tells what was installed: a version or a commit.
    base::Result<void> keep(const std::string& target, std::string_view identity,
                            const TreeManifest& manifest, const FileStamps& stamps = {});
    /// What was last installed as `target`; empty: nobody knows.
    std::string identity(const std::string& target);
    /// Nullopt: nothing is known of `target` being `identity`.
    std::optional<KnownFiles> find(const std::string& target, std::string_view identity);

private:
    std::string path_of(const std::string& target) const;
    sys::FileSystem& files_;
    std::string folder_;
};

}  // namespace bunraku::module
