// SPDX-License-Identifier: Apache-2.0
// Puppetfiles: the list of an environment's modules from forges, repositories and archives, and
// their installation with a lock file.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/result.h"
#include "core/sys/system.h"
#include "modules/module/forge_client.h"
#include "modules/module/puppetfile_text.h"

namespace bunraku::module {

struct PuppetfileModule {
    enum class Kind { Forge, Git, Tarball, Svn, Local } kind = Kind::Forge;
    std::string name;     ///< as written: "acme/web", "acme-web" or "web"
    std::string version;  ///< for Forge: "", "latest", a version or a range
    std::string source;   ///< address for Git, Tarball and Svn
    std::string ref;      ///< for Git a branch, tag or commit; for Svn a revision; may be empty
    /// For Git: branches to try, in this order, if `ref` does not exist.
    std::vector<std::string> default_refs;
    std::string checksum;  ///< for Tarball and Forge: SHA-256 of the archive; may be empty
    /// g10k: true if a deploy leaves the module unchanged when its source is unreachable.
    bool ignore_unreachable = false;
    std::string user, password;      ///< for Svn
    bool of_control_branch = false;  ///< true to use the branch of the control repository
    /// true to exclude the module's tests; nullopt for the configured default
    std::optional<bool> exclude_spec;
    std::string moduledir;    ///< folder for this module (moduledir line or install_path)
    bool own_folder = false;  ///< true if `moduledir` is an install_path
    std::vector<std::string> warnings;
    int line = 0;
    /// Returns the name of the folder to install to.
    std::string folder() const;
    /// true if the user maintains the module, so that it must not be changed
    bool local() const { return kind == Kind::Local; }
    bool from_git() const { return kind == Kind::Git; }
    /// Reports whether its version may change later, as for a branch or :latest.
    bool floats() const;
};

struct Puppetfile {
    std::string forge;      ///< may be empty
    std::string moduledir;  ///< may be empty
    /// librarian's `metadata`: true to include the dependencies in metadata.json
    bool wants_metadata = false;
    std::vector<PuppetfileModule> modules;
};

/// Interprets the declarations by r10k's rules. The error contains the line number.
base::Result<Puppetfile> interpret_puppetfile(const std::vector<Declaration>& words);
/// Parses a Puppetfile with literal arguments. Fails if it needs Ruby.
base::Result<Puppetfile> parse_puppetfile(std::string_view text);
/// Reads the Puppetfile at `path`. If it is a program, a sandboxed Ruby process evaluates it.
/// `environment` is the environment name that the program sees.
base::Result<Puppetfile> read_puppetfile(sys::System& system, const std::string& path,
                                         std::string_view text,
                                         const std::string& environment = {});

/// How to use a lock file.
enum class LockUse : std::uint8_t {
    Follow,  ///< branches and :latest follow upstream; ranges stay at their locked version
    Keep,    ///< entries whose line has not changed use the locked version
    Frozen   ///< like Keep, but every entry must be locked
};

struct PuppetfileOptions {
    std::string puppetfile;  ///< path of the Puppetfile
    /// default "modules" next to the Puppetfile, if the file has no setting
    std::string moduledir;
    /// the forge line of the file overrides `url`, unless `fixed_forge` is set
    ForgeClientOptions forge;
    bool fixed_forge = false;  ///< true if the user has configured the forge's address
    std::string cache;         ///< folder for mirrors and archives
    LockUse lock = LockUse::Follow;
    bool update = false;  ///< true to look for newer versions in ranges too
    bool purge = false;   ///< true to remove modules that are not in the file
    bool force = false;   ///< true to replace modules with local changes
    int parallel = 16;
    std::function<bool()> stopped;  ///< returns true to skip the modules that have not been started
};

struct PuppetfileSummary {
    int installed = 0, kept = 0, skipped = 0, removed = 0, failed = 0;
};

/// Installs and updates the modules. Logs and counts single modules that fail, and modules that are
/// skipped because they have local changes. Never installs outside of the Puppetfile's folder,
/// except in the `moduledir` of the options. Never purges the Puppetfile's folder itself.
base::Result<PuppetfileSummary> sync_puppetfile(const PuppetfileOptions& options,
                                                sys::System& system, base::LogSink& log);

}  // namespace bunraku::module
