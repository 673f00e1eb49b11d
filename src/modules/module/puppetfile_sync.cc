// SPDX-License-Identifier: Apache-2.0
// Installs a Puppetfile: selects versions, stores them in a lock file, and fetches modules in
// parallel.
#include <algorithm>
#include <fmt/format.h>
#include <mutex>
#include <optional>
#include <set>

#include "core/codec/digest.h"
#include "core/sys/lock.h"
#include "modules/module/module_paths.h"
#include "modules/module/parallel.h"
#include "modules/module/puppetfile_install.h"
#include "modules/module/tool.h"

namespace bunraku::module {

namespace {

using base::failure;
using base::Level;
using base::Result;

/// Removes entries of the module folders that are not listed modules. Like r10k, purges only
/// folders that contain modules, and never the base folder, which contains the environment's own
/// files.
Result<int> purge(const ModulePaths& places, const PuppetfileOptions& options,
                  PuppetfileInstaller& installer, sys::FileSystem& files) {
    int removed = 0;
    for (const std::string& folder :
         std::set<std::string>(places.folders.begin(), places.folders.end())) {
        if (is_within(places.base, folder)) continue;
        for (const std::string& name : BUNRAKU_TRY(files.list(folder))) {
            const std::string path = folder + "/" + name;
            if (name.starts_with('.') || !files.is_directory(path)) continue;
            const bool holds_module =
                std::any_of(places.targets.begin(), places.targets.end(),
                            [&](const std::string& target) { return is_within(target, path); });
            if (holds_module || is_within(places.base, path)) continue;
            if (const std::string lost = installer.unsaved_in(path);
                !lost.empty() && !options.force) {
                installer.note(Level::Warning, fmt::format("Skipping {} due to local modifications "
                                                           "({}); --force removes it",
                                                           path, lost));
                continue;
            }
            BUNRAKU_TRY_VOID(files.remove_all(path));
            installer.note(Level::Notice, "Removed " + path);
            ++removed;
        }
    }
    return removed;
}

using Locks = std::vector<std::optional<Locked>>;

/// Returns the lock entries that the modules must follow. Fails if the lock file is frozen and does
/// not fit the Puppetfile.
Result<Locks> locks_to_follow(const PuppetfileOptions& options,
                              const std::vector<PuppetfileModule>& modules,
                              const std::string& lock_path, const LockFile& before) {
    Locks locks(modules.size());
    for (std::size_t i = 0; i < modules.size(); ++i) {
        const PuppetfileModule& m = modules[i];
        if (m.local()) continue;
        const auto known = before.find(m.name);
        const bool fits = known != before.end() && known->second.requested == request_of(m);
        if (options.lock == LockUse::Frozen && !fits) {
            return failure(fmt::format("{} does not fit {}: '{}' is not locked as written",
                                       lock_path, options.puppetfile, m.name));
        }
        const bool follows = options.lock == LockUse::Follow && (m.floats() || options.update);
        if (fits && !follows) locks[i] = known->second;
    }
    return locks;
}

/// Writes the lock file if it changes. A module that was skipped or failed retains its lock entry.
Result<void> write_locks(const std::vector<PuppetfileModule>& modules, const Locks& locks,
                         const LockFile& before, const std::string& lock_path,
                         sys::FileSystem& files) {
    LockFile after;
    for (std::size_t i = 0; i < modules.size(); ++i) {
        const std::string& name = modules[i].name;
        if (locks[i])
            after[name] = *locks[i];
        else if (const auto known = before.find(name); known != before.end())
            after[name] = known->second;
    }
    const std::string fresh = lock_file_text(after);
    const auto old = files.read(lock_path);
    if (old && *old == fresh) return {};
    return files.replace(lock_path, fresh, {.mode = 0644});
}

}  // namespace

Result<PuppetfileSummary> sync_puppetfile(const PuppetfileOptions& options, sys::System& system,
                                          base::LogSink& log) {
    const std::string text = BUNRAKU_TRY(system.files.read(options.puppetfile));
    const std::string environment(
        sys::base_name(sys::directory_name(sys::expand_path(options.puppetfile))));
    auto parsed = read_puppetfile(system, sys::expand_path(options.puppetfile), text, environment);
    if (!parsed) return failure(options.puppetfile + ": " + parsed.error().message);
    const Puppetfile& file = *parsed;
    for (const PuppetfileModule& m : file.modules) {
        for (const std::string& warning : m.warnings) {
            log.log(Level::Warning,
                    fmt::format("{}: line {}: {}", options.puppetfile, m.line, warning));
        }
    }
    const ModulePaths places =
        BUNRAKU_TRY(find_module_paths(file, options.puppetfile, options.moduledir, system.files));
    // Only one run at a time. A second run waits and then finds the results of the first.
    BUNRAKU_TRY_VOID(system.files.make_directories(options.cache, 0700));
    const auto alone = BUNRAKU_TRY(wait_for_lock(
        options.cache + "/" +
            codec::hex_digest(codec::DigestKind::Sha256, places.base).substr(0, 32) + ".lock",
        options.stopped));
    std::string url = file.forge.empty() || options.fixed_forge ? options.forge.url : file.forge;
    if (url.find("://") == std::string::npos) url = "https://" + url;
    while (url.ends_with('/')) url.pop_back();

    const std::string lock_path = options.puppetfile + ".lock.json";
    LockFile before;
    if (auto old = system.files.read(lock_path)) before = read_lock_file(*old);
    Locks locks = BUNRAKU_TRY(locks_to_follow(options, file.modules, lock_path, before));

    PuppetfileSummary out;
    for (std::size_t i = 0; i < file.modules.size(); ++i) {
        BUNRAKU_TRY_VOID(system.files.make_directories(places.folders[i], 0777));
        remove_leftovers(places.targets[i]);
    }
    ForgeClientOptions forge = options.forge;
    forge.stopped = options.stopped;
    ModuleSources sources(system, options.cache, forge, {.stopped = options.stopped});
    const auto stopped = [&] { return options.stopped && options.stopped(); };
    PuppetfileInstaller installer(options, system, log, sources, url);
    std::mutex mutex;
    in_parallel(file.modules.size(), options.parallel, [&](std::size_t i) {
        const PuppetfileModule& m = file.modules[i];
        if (m.local()) return;
        installer.note(Level::Info, fmt::format("Looking at module {}", m.name));
        auto done = stopped() ? failure("the run was stopped")
                              : installer.install(m, places.targets[i], locks[i]);
        if (!done) installer.note(Level::Err, fmt::format("{}: {}", m.name, done.error().message));
        using InstallResult = PuppetfileInstaller::InstallResult;
        std::unique_lock held(mutex);
        ++(!done                               ? out.failed
           : *done == InstallResult::Installed ? out.installed
           : *done == InstallResult::Skipped   ? out.skipped
                                               : out.kept);
    });

    if (options.purge && !stopped()) {
        out.removed = BUNRAKU_TRY(purge(places, options, installer, system.files));
    }
    if (options.lock != LockUse::Frozen)
        BUNRAKU_TRY_VOID(write_locks(file.modules, locks, before, lock_path, system.files));
    return out;
}

}  // namespace bunraku::module
