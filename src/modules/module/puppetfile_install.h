// One module of a Puppetfile: what stands in its place, what is wanted there, and the way between
// that loses nobody's work.
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

/// Used by several threads at once.
class PuppetfileInstaller {
public:
    PuppetfileInstaller(const PuppetfileOptions& options, sys::System& system, base::LogSink& log,
                        ModuleSources& sources, std::string forge_url);

    enum class InstallResult { Installed, Kept, Skipped };
    /// Brings `target` in line with the wish. `lock` says what to take, and learns what was taken.
    base::Result<InstallResult> bring(const PuppetfileModule& module, const std::string& target,
                                      std::optional<Locked>& lock);
    /// What would be lost if `path`, which nobody wants, were removed; empty: nothing of worth.
    std::string unsaved_in(const std::string& path);
    void note(base::Level level, std::string text);

private:
    /// What is at the place of a module now.
    struct ExistingModule {
        enum class Kind {
            Nothing,
            Link,
            Other,
            Checkout,
            Forge,
            Git,
            Recorded  ///< an archive or a Subversion folder: only the records say so
        } kind = Kind::Nothing;
        std::string identity;  ///< of Forge and Git: for the records
        std::string version;   ///< or commit
        std::string slug;
    };
    /// What the standing module was when it was installed; nullopt: nobody knows.
    using Original = std::function<std::optional<TreeManifest>()>;

    ExistingModule look(const std::string& target);
    /// What somebody did to the standing module, in words; empty: nothing.
    std::string changes(const std::string& target, const ExistingModule& standing, bool wanted,
                        const Original& original);
    /// Installs by `fill` unless `identity` stands there already or work would be lost.
    base::Result<InstallResult> resolve_module(
        const PuppetfileModule& module, const std::string& target, const std::string& identity,
        const Original& original,
        const std::function<base::Result<void>(const std::string& folder)>& fill);
    bool stays(const std::string& target, const std::string& changes);
    std::optional<TreeManifest> unpacked(
        const std::function<base::Result<void>(const std::string& folder)>& fill);
    void leave_out(const PuppetfileModule& module, const std::string& folder);

    std::optional<TreeManifest> as_it_was(const PuppetfileModule& module, const std::string& target,
                                          const ExistingModule& standing);
    base::Result<InstallResult> move_checkout(const PuppetfileModule& module,
                                              const std::string& target, const std::string& commit);

    const PuppetfileOptions& options_;
    sys::System& system_;
    base::LogSink& log_;
    ModuleSources& sources_;
    std::string forge_url_;
    InstallRecords records_;
    std::mutex mutex_;
    int counter_ = 0;  ///< of temporary folders, under `mutex_`
};

}  // namespace bunraku::module
