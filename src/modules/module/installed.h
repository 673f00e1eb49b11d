// The modules that are installed along a modulepath, as `puppet module` sees them.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/result.h"
#include "modules/module/tarball.h"

namespace bunraku::module {

struct InstalledModule {
    std::string name;        ///< of its folder
    std::string path;        ///< of its folder
    std::string modulepath;  ///< the folder that holds it
    bool has_metadata = false;
    std::string forge_name;                ///< "author/name"; empty: metadata names none
    std::string metadata_name;             ///< as metadata.json writes it
    std::string version;                   ///< empty: unknown
    std::vector<Dependency> dependencies;  ///< names with slashes
    /// "author-name", or the folder's name.
    std::string full_name() const;
    bool operator==(const InstalledModule& other) const { return path == other.path; }
};

/// All modules of a modulepath.
class InstalledModules {
public:
    /// Folders that don't exist are left out. Fails with Puppet's text where a metadata.json lacks
    /// what Puppet needs; `warn` gets what is only odd.
    static base::Result<InstalledModules> load(const std::vector<std::string>& modulepath,
                                               std::vector<std::string>* warnings = nullptr);

    struct Folder {
        std::string path;
        std::vector<InstalledModule> modules;  ///< by name
    };
    const std::vector<Folder>& folders() const { return folders_; }
    /// In the order of the modulepath, the first of each name.
    std::vector<const InstalledModule*> effective() const;
    /// All, shadowed ones too.
    std::vector<const InstalledModule*> all() const;
    /// The first of that folder name; null: none.
    const InstalledModule* named(std::string_view name) const;
    /// By "author/name", where the first module of that folder name is it.
    const InstalledModule* by_forge_name(std::string_view forge_name) const;

    struct Requirement {
        std::string name, version, requirement;  ///< who needs it, and how
    };
    /// Modules that depend on `forge_name`.
    std::vector<Requirement> required_by(std::string_view forge_name) const;

    struct Unmet {
        enum class Reason { Missing, NonSemantic, Mismatch } reason;
        std::string name, constraint;  ///< "author/name", the range ("v" before a bare number)
        std::string parent, parent_version;
        std::string installed_version;
    };
    std::vector<Unmet> unmet(const InstalledModule& module) const;

private:
    std::vector<Folder> folders_;
};

/// The files of an installed module with their MD5, as its checksums.json (or, in old modules,
/// metadata.json) says, in its order. Fails with Puppet's text where there are no checksums.
base::Result<std::vector<std::pair<std::string, std::string>>> read_checksums(
    const std::string& module_path);
/// Those that are not as said.
base::Result<std::vector<std::string>> changed_files(const std::string& module_path);

}  // namespace bunraku::module
