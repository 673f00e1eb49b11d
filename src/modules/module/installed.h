// SPDX-License-Identifier: Apache-2.0
// The modules installed in a modulepath, as seen by `puppet module`.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "modules/module/tarball.h"

namespace bunraku::module {

struct InstalledModule {
    std::string name;        ///< name of its folder
    std::string path;        ///< path of its folder
    std::string modulepath;  ///< the folder that contains it
    bool has_metadata = false;
    std::string forge_name;                ///< "author/name"; empty if metadata.json has no name
    std::string metadata_name;             ///< as written in metadata.json
    std::string version;                   ///< empty if unknown
    std::vector<Dependency> dependencies;  ///< names in the form "author/name"
    std::vector<Dependency> requirements;  ///< on puppet, openvox or pe
    /// Returns "author-name", or the name of the folder.
    std::string full_name() const;
    bool operator==(const InstalledModule& other) const { return path == other.path; }
};

/// All modules in a modulepath.
class InstalledModules {
public:
    /// Loads the modules; folders that do not exist are skipped. Fails with Puppet's text if a
    /// metadata.json lacks required keys. Adds lesser problems to `warnings`, which may be null.
    static base::Result<InstalledModules> load(const std::vector<std::string>& modulepath,
                                               std::vector<std::string>* warnings = nullptr);

    struct Folder {
        std::string path;
        std::vector<InstalledModule> modules;  ///< ordered by name
    };
    const std::vector<Folder>& folders() const { return folders_; }
    /// Returns the modules in the order of the modulepath, the first of each name.
    std::vector<const InstalledModule*> effective() const;
    /// Returns all modules, including shadowed ones.
    std::vector<const InstalledModule*> all() const;
    /// Returns the first module with that folder name, or null.
    const InstalledModule* named(std::string_view name) const;
    /// Returns the module "author/name", or null. Considers only the first module of each folder
    /// name.
    const InstalledModule* by_forge_name(std::string_view forge_name) const;

    struct Requirement {
        std::string name, version, requirement;  ///< a module that requires it, and its requirement
    };
    /// Returns the modules that depend on `forge_name`.
    std::vector<Requirement> required_by(std::string_view forge_name) const;

    struct Unmet {
        enum class Reason { Missing, NonSemantic, Mismatch } reason;
        /// "author/name", and the range ("v" before a plain version)
        std::string name, constraint;
        std::string parent, parent_version;
        std::string installed_version;
    };
    std::vector<Unmet> unmet(const InstalledModule& module) const;

private:
    std::vector<Folder> folders_;
};

/// Returns the files of an installed module with their MD5 digests, in the order of its
/// checksums.json (or metadata.json in old modules). Fails with Puppet's text if there are no
/// checksums.
base::Result<std::vector<std::pair<std::string, std::string>>> read_checksums(
    const std::string& module_path);
/// Returns the files whose digests differ from the checksums.
base::Result<std::vector<std::string>> changed_files(const std::string& module_path);

}  // namespace bunraku::module
