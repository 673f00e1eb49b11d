// Files for agents: the mounts of a file server, and what is said of a file before it is fetched.
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

/// What a request says of how files are to be looked at.
struct FileRequest {
    bool follow_links = false;
    std::string checksum = "sha256";
    bool real_owner = false;  ///< source_permissions: `use`; else who this process is, and 0644
    apply::ContentSearch search;
    /// Is asked for each path before it is looked at, so that its moment() tells of changes; may be
    /// null.
    const environment::Files* fingerprints = nullptr;
    /// A search leaves out links to nothing; else one fails it.
    bool without_broken = false;
};

/// One file as agents are told of it (Puppet 8.11, file_serving/metadata.rb).
struct FileFacts {
    std::string path;                     ///< of a search: the folder that was searched
    std::optional<std::string> relative;  ///< of a search: the path below it
    std::string links = "manage";
    std::int64_t owner = 0, group = 0;
    std::uint32_t mode = 0;
    std::string checksum_type;
    std::optional<std::string> checksum;  ///< "{sha256}.."
    std::string type;
    std::optional<std::string> destination;
    std::string content_uri, source;  ///< of static catalogs
};
void write_json(std::string& out, const FileFacts& facts);

/// Digests of files, kept while size, inode and times stay. Thread-safe.
class Digests {
public:
    /// In hexadecimal; errors name the file.
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

    /// Throws what Puppet says of keys of no mount, and of those of `modules` without a module.
    void check(std::string_view key, std::string_view node, std::string_view verb,
               std::string_view indirection) const;
    /// The file or folder that "modules/ntp/x" stands for; nullopt: there is none.
    std::optional<std::string> find(const environment::Environment& environment,
                                    std::string_view key, std::string_view node) const;
    Digests& digests() { return digests_; }

    /// Where what a key stands for may be, best first, whether it is there or not.
    std::vector<std::string> places(const environment::Environment& environment,
                                    std::string_view key, std::string_view node) const;
    /// What stands for a plugins mount that no module has: one folder.
    std::vector<std::string> roots(const environment::Environment& environment) const;
    /// The folders whose content a search of it gives, best first; empty: there is nothing.
    /// `witness`: as in FileWish.
    std::vector<std::string> search(const environment::Environment& environment,
                                    std::string_view key, std::string_view node,
                                    const environment::Files* fingerprints = nullptr) const;
    /// What is at a path. Errors are Puppet's; ENOENT where nothing is.
    base::Result<FileFacts> look(const std::string& base, std::optional<std::string> relative,
                                 const FileRequest& wanted);
    /// All below the folders; of files of the same name the first. Throws. What is not there
    /// although it has a name (a link to nothing that is followed) ends it, unless somebody wants
    /// to hear which they are.
    std::vector<FileFacts> walk(const std::vector<std::string>& folders, const FileRequest& wanted,
                                std::vector<std::string>* broken = nullptr);

private:
    std::optional<std::string> custom_mount(std::string_view name, std::string_view node) const;

    const config::Settings& settings_;
    Digests digests_;
};

}  // namespace bunraku::server
