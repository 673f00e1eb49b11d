// Looks into a module's release archive without unpacking it to disk: everything that an upload
// must satisfy is checked here.
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

/// Bounds of what strangers may send.
struct TarballLimits {
    std::uint64_t packed = 256U << 20;
    std::uint64_t unpacked = 1024U << 20;
    std::uint64_t entries = 100000;
    std::uint64_t metadata = 1U << 20;  ///< metadata.json
    std::uint64_t text = 4U << 20;      ///< README and the like: longer ones are left out
};

struct Dependency {
    std::string name;         ///< "author/name"
    std::string requirement;  ///< ">= 0.0.0" where none is given
};

/// What is read out of metadata.json. Texts are checked for their kinds.
struct Metadata {
    ModuleName module;
    std::string version;
    base::SemVer semver;
    std::string summary, project_page, issues_url;  ///< "" where missing
    bool has_summary = false, has_project_page = false, has_issues_url = false;
    bool pdk = false;  ///< made by the Puppet Development Kit
    std::vector<std::string> tags;
    std::vector<Dependency> dependencies;
    std::string dependencies_json;  ///< the list as written, compact
    struct System {
        std::string name;
        std::vector<std::string> releases;
    };
    std::vector<System> systems;           ///< operatingsystem_support
    std::vector<Dependency> requirements;  ///< puppet, pe: name and range
    std::string json;                      ///< all of it, compact
    std::string slug() const { return module.slug() + "-" + version; }
};

/// Reads metadata.json; the error says what is wrong with it.
base::Result<Metadata> parse_metadata(std::string_view json);

struct Tarball {
    Metadata metadata;
    std::string top;                           ///< the folder that holds everything
    std::map<std::string, std::string> texts;  ///< README.md ..., tasks/*, plans/**: by path
};

/// The archive's content where it is a good release; the error is a sentence for its sender.
/// Refused: no gzip, no tar, cut or broken streams, entries outside of the one top folder, links
/// that lead out of it, devices, a top folder that is not AUTHOR-NAME-VERSION, bad metadata.
base::Result<Tarball> inspect_tarball(std::string_view bytes, const TarballLimits& limits = {});

/// The files of a release's archive by their paths in its top folder; links are left out. Fails
/// where they are more than `limits` allow.
base::Result<std::map<std::string, std::string>> tarball_files(std::string_view bytes,
                                                               const TarballLimits& limits = {
                                                                   .unpacked = 128U << 20});

/// Unpacks a checked archive so that its top folder's content stands in `target` (made, must not
/// exist). Links inside are left out; modes are 0644/0755. Nothing is left where it fails.
base::Result<void> unpack_tarball(std::string_view bytes, const std::string& target,
                                  const TarballLimits& limits = {});

/// Unpacks any gzipped tar archive as it is into `target`, which is made: files and folders alone.
/// Entries that lead out of it are refused. Nothing is left where it fails.
base::Result<void> unpack_any_tarball(std::string_view bytes, const std::string& target,
                                      const TarballLimits& limits = {});

/// The release's own bytes: a deterministic archive of `files` (path relative to the top folder ->
/// content, executable bit), for `module build`.
struct PackedFile {
    std::string path, content;
    bool executable = false;
};
base::Result<std::string> pack_tarball(const std::string& top,
                                       const std::vector<PackedFile>& files);

}  // namespace bunraku::module
