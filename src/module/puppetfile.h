// Puppetfiles: the list of modules an environment wants, from forges and from git; and their
// installation with a lock file.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "base/result.h"
#include "module/forge_client.h"
#include "sys/system.h"

namespace bunraku::module {

struct PuppetfileModule {
    std::string name;         ///< as written: "acme/web", "acme-web" or, of git modules, "web"
    std::string version;      ///< "", "latest", a version or a range
    std::string git;          ///< URL; empty: from the forge
    std::string ref;          ///< branch, tag or commit; empty: the repository's default
    std::string default_ref;  ///< where `ref` is not there
    bool of_control_branch = false;    ///< the control repository's own branch is wanted
    bool exclude_spec = false;         ///< its tests are left out
    std::string moduledir;             ///< of this module (moduledir line or install_path)
    bool own_folder = false;           ///< `moduledir` is an install_path
    bool local = false;                ///< kept by hand: left alone
    std::vector<std::string> unknown;  ///< options that mean nothing here
    int line = 0;
    /// The folder it is installed to.
    std::string folder() const;
    bool from_git() const { return !git.empty(); }
};

struct Puppetfile {
    std::string forge;      ///< empty: not said
    std::string moduledir;  ///< empty: not said
    std::vector<PuppetfileModule> modules;
};

/// Reads the Ruby that Puppetfiles are written in: forge, moduledir and mod lines with literal
/// arguments, comments, and nothing else. The error names the line.
base::Result<Puppetfile> parse_puppetfile(std::string_view text);

struct PuppetfileOptions {
    std::string puppetfile;    ///< its path
    std::string moduledir;     ///< "modules" beside the Puppetfile where the file says nothing
    ForgeClientOptions forge;  ///< `url` gives way to the file's forge line
    std::string cache;         ///< git mirrors
    bool update = false;       ///< look for newer versions than the lock file's
    bool frozen = false;       ///< install exactly the lock file; fail where it does not fit
    bool purge = false;        ///< remove modules that the file does not name
    bool force = false;        ///< replace modules with local changes
    int parallel = 4;
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
