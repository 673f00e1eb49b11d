// SPDX-License-Identifier: Apache-2.0
// Installs one module of a Puppetfile: compares the existing module with the requested one, and
// replaces it without losing local work.
#pragma once

#include <functional>
#include <mutex>
#include <optional>
#include <string>

#include "modules/module/git.h"
#include "modules/module/puppetfile.h"
#include "modules/module/sources.h"
#include "modules/module/state.h"

namespace bunraku::module {

/// Installer of single modules. Thread-safe.
class PuppetfileInstaller {
public:
    PuppetfileInstaller(const PuppetfileOptions& options, sys::System& system, base::LogSink& log,
                        ModuleSources& sources, std::string forge_url);

    enum class InstallResult { Installed, Kept, Skipped };
    /// Updates `target` to the requested module. `lock` contains the version to install, and is set
    /// to the installed one.
    base::Result<InstallResult> install(const PuppetfileModule& module, const std::string& target,
                                        std::optional<Locked>& lock);
    /// Describes the work that would be lost if `path`, which is not in the Puppetfile, were
    /// removed. Empty if there is none.
    std::string unsaved_in(const std::string& path);
    void note(base::Level level, std::string text);

private:
    /// The module that exists at a path.
    struct ExistingModule {
        enum class Kind {
            Nothing,
            Link,
            Other,
            Checkout,
            Forge,
            Git,
            Recorded  ///< an archive or a Subversion folder, known only from the records
        } kind = Kind::Nothing;
        std::string identity;  ///< for Forge and Git: identity in the records
        std::string version;   ///< version or commit
        std::string slug;
    };
    /// Returns the manifest of the existing module at its installation, or nullopt if unknown.
    using Original = std::function<std::optional<TreeManifest>()>;

    ExistingModule look(const std::string& target);
    /// Describes the local changes to the existing module. Empty if there are none.
    std::string changes(const std::string& target, const ExistingModule& existing, bool wanted,
                        const Original& original);
    /// Installs the module with `fill`, unless `identity` is installed already or work would be
    /// lost.
    base::Result<InstallResult> resolve_module(
        const PuppetfileModule& module, const std::string& target, const std::string& identity,
        const Original& original,
        const std::function<base::Result<void>(const std::string& folder)>& fill);
    bool stays(const std::string& target, const std::string& changes);
    std::optional<TreeManifest> unpacked(
        const std::function<base::Result<void>(const std::string& folder)>& fill);
    void exclude_tests(const PuppetfileModule& module, const std::string& folder);

    std::optional<TreeManifest> original_manifest(const PuppetfileModule& module,
                                                  const std::string& target,
                                                  const ExistingModule& existing);
    base::Result<InstallResult> move_checkout(const PuppetfileModule& module,
                                              const std::string& target, const std::string& commit);

    const PuppetfileOptions& options_;
    sys::System& system_;
    base::LogSink& log_;
    ModuleSources& sources_;
    std::string forge_url_;
    InstallRecords records_;
    std::mutex mutex_;
    int counter_ = 0;  ///< number for temporary folders, guarded by `mutex_`
};

}  // namespace bunraku::module
