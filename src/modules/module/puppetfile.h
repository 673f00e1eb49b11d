// Puppetfiles: the list of modules an environment wants, from forges, repositories and archives;
// and their installation with a lock file.
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
    std::string version;  ///< of Forge: "", "latest", a version or a range
    std::string source;   ///< address of Git, Tarball and Svn
    std::string ref;      ///< of Git: branch, tag or commit; of Svn: revision; empty: not said
    /// Of Git: branches that are tried in order where `ref` is not there.
    std::vector<std::string> default_refs;
    std::string checksum;  ///< of Tarball and Forge: SHA-256 of the archive; empty: not given
    /// g10k: a deploy leaves the module as it is if its source cannot be reached.
    bool ignore_unreachable = false;
    std::string user, password;        ///< of Svn
    bool of_control_branch = false;    ///< the control repository's own branch is wanted
    std::optional<bool> exclude_spec;  ///< its tests are left out; nullopt: as configured
    std::string moduledir;             ///< of this module (moduledir line or install_path)
    bool own_folder = false;           ///< `moduledir` is an install_path
    std::vector<std::string> warnings;
    int line = 0;
    /// The folder it is installed to.
    std::string folder() const;
    bool local() const { return kind == Kind::Local; }  ///< kept by hand: left alone
    bool from_git() const { return kind == Kind::Git; }
    /// Its version may be another tomorrow: a branch, :latest.
    bool floats() const;
};

struct Puppetfile {
    std::string forge;            ///< empty: not said
    std::string moduledir;        ///< empty: not said
    bool wants_metadata = false;  ///< librarian's `metadata`: the dependencies in metadata.json too
    std::vector<PuppetfileModule> modules;
};

/// What the words mean, by r10k's rules. The error names the line.
base::Result<Puppetfile> understand_puppetfile(const std::vector<Declaration>& words);
/// Reads a Puppetfile of words with literal arguments; what needs Ruby is an error.
base::Result<Puppetfile> parse_puppetfile(std::string_view text);
/// Reads the text of the Puppetfile at `path`, by a caged Ruby where it is a program. `environment`
/// is what it is told of its name.
base::Result<Puppetfile> read_puppetfile(sys::System& system, const std::string& path,
                                         std::string_view text,
                                         const std::string& environment = {});

/// What a lock file is used for.
enum class LockUse : std::uint8_t {
    Follow,  ///< branches and :latest follow upstream; ranges stay at what they came to
    Keep,    ///< what is locked as it is written is taken from it
    Frozen   ///< the same, and everything must be
};

struct PuppetfileOptions {
    std::string puppetfile;    ///< its path
    std::string moduledir;     ///< "modules" beside the Puppetfile where the file says nothing
    ForgeClientOptions forge;  ///< `url` gives way to the file's forge line, unless it is `fixed`
    bool fixed_forge = false;  ///< somebody has set the forge's address
    std::string cache;         ///< mirrors and archives
    LockUse lock = LockUse::Follow;
    bool update = false;  ///< look for newer versions in ranges too
    bool purge = false;   ///< remove modules that the file does not name
    bool force = false;   ///< replace modules with local changes
    int parallel = 16;
    std::function<bool()> stopped;  ///< true: modules that are not begun are left as they are
};

struct PuppetfileSummary {
    int installed = 0, kept = 0, skipped = 0, removed = 0, failed = 0;
};

/// Brings the module folders in line. Single modules that fail are logged and counted, and so are
/// those that are left alone because somebody changed them. Nothing is installed outside of the
/// Puppetfile's folder (`moduledir` of the options apart), which itself is never purged.
base::Result<PuppetfileSummary> sync_puppetfile(const PuppetfileOptions& options,
                                                sys::System& system, base::LogSink& log);

}  // namespace bunraku::module
