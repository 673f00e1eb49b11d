// What the files of a deployed version are: digests by which an edit is found, named and undone.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/sys/file_system.h"

namespace bunraku::module {

/// A file or link as the deploy made it. Size and times save reading what nobody has touched.
struct ManifestEntry {
    bool link = false, executable = false;
    std::string content;  ///< SHA-256 of a file; the target of a link
    std::uint64_t size = 0;
    std::int64_t mtime_ns = 0, ctime_ns = 0;
};

/// By path below the version's folder. Holds what the deploy placed, not what it carried over.
class VersionManifest {
public:
    using Entries = std::map<std::string, ManifestEntry, std::less<>>;

    /// Adds all files below `folder` whose paths begin with `prefix` ("" or "DIRECTORY/"), takes
    /// their write permission away and reads them. `earlier` lends the digests of files that are
    /// hard links to those in `earlier_folder`.
    base::Result<void> add(sys::FileSystem& files, const std::string& folder,
                           const std::string& prefix, const VersionManifest& earlier,
                           const std::string& earlier_folder);
    /// Takes over the entries of `earlier` below `prefix`, for what `folder` has copies of.
    void adopt(sys::FileSystem& files, const std::string& folder, const std::string& prefix,
               const VersionManifest& earlier);
    bool holds(std::string_view prefix) const;  ///< is there an entry below?
    void forget(const std::string& prefix);
    /// Reads what `text` gives. A line that cannot be read is an error.
    static base::Result<VersionManifest> read(std::string_view text);
    std::string text() const;

    /// Paths that are no longer what the manifest says, in order.
    struct Changes {
        std::vector<std::string> edited, deleted;
        bool any() const { return !edited.empty() || !deleted.empty(); }
    };
    /// Compares `folder` with the manifest. Files whose size and times are as they were are not
    /// read; what was read and found right is remembered: `refreshed` says whether there was any.
    Changes compare(sys::FileSystem& files, const std::string& folder, bool& refreshed);

    /// Copies the file or link at `from` to `path` in `folder` in one step, if it is what the
    /// manifest says. False: it is not.
    base::Result<bool> restore(sys::FileSystem& files, const std::string& folder,
                               const std::string& path, const std::string& from);

    const Entries& entries() const { return entries_; }
    /// SHA-256 of all paths, contents and executable bits: the same on every machine.
    std::string digest() const;

private:
    Entries entries_;
};

/// The SHA-256 of a file in hexadecimal.
base::Result<std::string> file_sha256(sys::FileSystem& files, const std::string& path);

}  // namespace bunraku::module
