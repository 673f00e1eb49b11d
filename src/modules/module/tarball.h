// SPDX-License-Identifier: Apache-2.0
// Validates the release archive of a module without unpacking it to disk. All requirements for an
// upload are checked here.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/base/semver.h"
#include "modules/module/names.h"

namespace bunraku::module {

/// Limits for untrusted archives.
struct TarballLimits {
    std::uint64_t packed = 256U << 20;
    std::uint64_t unpacked = 1024U << 20;
    std::uint64_t entries = 100000;
    std::uint64_t metadata = 1U << 20;  ///< size of metadata.json
    /// size of README and similar files; longer ones are omitted
    std::uint64_t text = 4U << 20;
};

struct Dependency {
    std::string name;         ///< "author/name"
    std::string requirement;  ///< ">= 0.0.0" if not given
};

/// The content of metadata.json. The types of its members are checked.
struct Metadata {
    ModuleName module;
    std::string version;
    base::SemVer semver;
    std::string summary, project_page, issues_url;  ///< empty if missing
    bool has_summary = false, has_project_page = false, has_issues_url = false;
    bool pdk = false;  ///< made by the Puppet Development Kit
    std::vector<std::string> tags;
    std::vector<Dependency> dependencies;
    std::string dependencies_json;  ///< the list as written, in compact form
    struct System {
        std::string name;
        std::vector<std::string> releases;
    };
    std::vector<System> systems;           ///< operatingsystem_support
    std::vector<Dependency> requirements;  ///< puppet and pe: name and range
    std::string json;                      ///< the whole file, in compact form
    std::string slug() const { return module.slug() + "-" + version; }
};

/// Parses metadata.json. The error describes the problem.
base::Result<Metadata> parse_metadata(std::string_view json);

struct Tarball {
    Metadata metadata;
    std::string top;                           ///< the folder that contains all entries
    std::map<std::string, std::string> texts;  ///< README.md ..., tasks/*, plans/**, by path
};

/// Returns the content of a valid release archive. The error is a sentence for its sender. Refuses
/// data that is not gzip or tar, and truncated or corrupt streams. Refuses devices, entries outside
/// of the top folder, and links that lead out of it. Refuses invalid metadata and a top folder that
/// is not called AUTHOR-NAME-VERSION.
base::Result<Tarball> inspect_tarball(std::string_view bytes, const TarballLimits& limits = {});

/// Returns the files of a release archive by their paths in its top folder, without links. Fails if
/// they exceed `limits`.
base::Result<std::map<std::string, std::string>> tarball_files(std::string_view bytes,
                                                               const TarballLimits& limits = {
                                                                   .unpacked = 128U << 20});

/// Unpacks a checked archive so that `target` contains the content of its top folder. `target` must
/// not exist. Skips links, and sets modes to 0644 or 0755. On failure, nothing remains.
base::Result<void> unpack_tarball(std::string_view bytes, const std::string& target,
                                  const TarballLimits& limits = {});

/// Unpacks the files and folders of any gzipped tar archive into `target`, which it creates.
/// Refuses entries that lead out of it. On failure, nothing remains.
base::Result<void> unpack_any_tarball(std::string_view bytes, const std::string& target,
                                      const TarballLimits& limits = {});

/// A file of a release for `module build`: content and executable bit. The map's keys are paths
/// relative to the top folder. The resulting archive is deterministic.
struct PackedFile {
    std::string path, content;
    bool executable = false;
};
base::Result<std::string> pack_tarball(const std::string& top,
                                       const std::vector<PackedFile>& files);

}  // namespace bunraku::module
