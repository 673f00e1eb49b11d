// SPDX-License-Identifier: Apache-2.0
// The mounts of the file server for agents, and the metadata of their files.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/config/settings.h"
#include "language/environment/environment.h"
#include "resources/apply/content_source.h"

namespace bunraku::server {

/// The options of a file request.
struct FileRequest {
    bool follow_links = false;
    std::string checksum = "sha256";
    /// true for source_permissions `use`; otherwise the owner of this process, and 0644
    bool real_owner = false;
    apply::ContentSearch search;
    /// The files of the environment. Paths are those of the environment's own folder; the file is
    /// read in the folder of its version. If null, every file is at its path.
    const environment::Files* files = nullptr;
    /// True to look up each path in `files` before it is read, so that its moment() detects
    /// changes.
    bool watch = false;
    /// If true, a search skips broken links. Otherwise a broken link is an error.
    bool without_broken = false;
};

/// The metadata of a file that agents receive (Puppet 8.11, file_serving/metadata.rb).
struct FileFacts {
    std::string path;                     ///< in a search, the folder that was searched
    std::optional<std::string> relative;  ///< in a search, the path below that folder
    std::string links = "manage";
    std::int64_t owner = 0, group = 0;
    std::uint32_t mode = 0;
    std::string checksum_type;
    std::optional<std::string> checksum;  ///< for example "{sha256}.."
    std::string type;
    std::optional<std::string> destination;
    std::string content_uri, source;  ///< for static catalogs
};
void write_json(std::string& out, const FileFacts& facts);

/// A cache of file digests, valid while size, inode and times are unchanged. Thread-safe.
class Digests {
public:
    /// Returns the digest in hexadecimal. Errors contain the file name.
    base::Result<std::string> of(std::string_view kind, const std::string& path,
                                 const sys::FileStatus& status);

private:
    struct Known {
        std::uint64_t inode = 0, size = 0;
        std::int64_t mtime = 0, ctime = 0;
        std::string digest;
    };
    std::mutex mutex_;
    std::map<std::string, Known> known_;  ///< by kind and path
};

/// The mounts `modules`, `plugins`, `pluginfacts`, `locales`, `scripts`, `tasks` of an environment,
/// and those of fileserver.conf. Thread-safe.
class FileMounts {
public:
    explicit FileMounts(const config::Settings& settings) : settings_(settings) {}

    /// Throws Puppet's error if the key does not belong to a mount, or if it belongs to `modules`
    /// without naming a module.
    void check(std::string_view key, std::string_view node, std::string_view verb,
               std::string_view indirection) const;
    /// Returns the file or folder for a key such as "modules/ntp/x", as a path of the environment's
    /// own folder (see FileRequest::files). Returns nullopt if it does not exist.
    std::optional<std::string> find(const environment::Environment& environment,
                                    std::string_view key, std::string_view node) const;
    Digests& digests() { return digests_; }

    /// Returns the possible paths for a key, best first, whether they exist or not.
    std::vector<std::string> places(const environment::Environment& environment,
                                    std::string_view key, std::string_view node) const;
    /// Returns one folder that represents a plugins mount that no module has.
    std::vector<std::string> roots(const environment::Environment& environment) const;
    /// Returns the folders that a search of the key covers, best first. Empty if there are none.
    /// `watch` is the same as in FileRequest.
    std::vector<std::string> search(const environment::Environment& environment,
                                    std::string_view key, std::string_view node,
                                    bool watch = false) const;
    /// Returns the metadata of a path. Errors have Puppet's text. The code is ENOENT if the path
    /// does not exist.
    base::Result<FileFacts> look(const std::string& base, std::optional<std::string> relative,
                                 const FileRequest& wanted);
    /// Returns everything below the folders. Among files with the same relative path, the first one
    /// is returned. Throws errors. A broken link that is followed is an error, unless `broken` is
    /// not null and collects them.
    std::vector<FileFacts> walk(const std::vector<std::string>& folders, const FileRequest& wanted,
                                std::vector<std::string>* broken = nullptr);

private:
    base::Result<FileFacts> look_at(const std::string& full, const std::string& base,
                                    std::optional<std::string> relative, const FileRequest& wanted);
    std::optional<std::string> custom_mount(std::string_view name, std::string_view node) const;

    const config::Settings& settings_;
    Digests digests_;
};

}  // namespace bunraku::server
