// SPDX-License-Identifier: Apache-2.0
#include "modules/module/deploy.h"

#include <algorithm>
#include <fmt/format.h>
#include <thread>

#include "core/codec/digest.h"
#include "modules/module/deployment.h"
#include "modules/module/feed.h"
#include "modules/module/parallel.h"

namespace bunraku::module {

using base::failure;
using base::Level;
using base::Result;
using What = DeployedEnvironment::What;

namespace {
constexpr int kTreeDays = 30;
}  // namespace

std::string Deployment::asked_path() const {
    std::string key;
    for (const DeploySource& s : config_.sources) key += s.remote + "\n" + s.basedir + "\n";
    for (const std::string& name : options_.environments) key += name + "\n";
    return options_.cache + "/asked/" +
           codec::hex_digest(codec::DigestKind::Sha256, key).substr(0, 32);
}

void Deployment::remember_asked() {
    if (!options_.modules) return;
    std::string text;
    for (const std::string& url : sources_.asked()) text += url + "\n";
    auto known = system_.files.read(asked_path());
    // The addresses may contain passwords, so the file is private. It is only a cache, so errors
    // are ignored.
    if ((!known || *known != text) &&
        system_.files.make_directories(options_.cache + "/asked", 0700)) {
        (void)system_.files.replace(asked_path(), text, {.mode = 0600});
    }
}

/// Fetches the module repositories of the previous deploy while the control repository is being
/// read. Stops when the Puppetfiles have been resolved.
class Deployment::Prefetcher {
public:
    explicit Prefetcher(Deployment& home) : home_(home) {
        if (!home.options_.modules) return;
        std::string_view rest = text_ = home.system_.files.read(home.asked_path()).value_or("");
        for (std::size_t end; (end = rest.find('\n')) != rest.npos; rest.remove_prefix(end + 1)) {
            urls_.emplace_back(rest.substr(0, end));
        }
        if (urls_.empty()) return;
        thread_ = std::thread([this] {
            in_parallel(urls_.size(), home_.options_.parallel, [this](std::size_t i) {
                const auto stopped = [this] { return over_ || home_.stopped(); };
                if (!stopped()) home_.sources_.prefetch(urls_[i], stopped);
            });
        });
    }
    ~Prefetcher() {
        over_ = true;
        if (thread_.joinable()) thread_.join();
    }
    Prefetcher(const Prefetcher&) = delete;

private:
    Deployment& home_;
    std::string text_;
    std::vector<std::string> urls_;
    std::atomic<bool> over_{false};
    std::thread thread_;
};

Result<std::vector<DeployedEnvironment>> Deployment::run() {
    BUNRAKU_TRY_VOID(check_lock());
    BUNRAKU_TRY_VOID(take_turns());
    {
        const Prefetcher ahead(*this);
        BUNRAKU_TRY_VOID(learn_environments(true));
        BUNRAKU_TRY_VOID(choose());
        resolve_contents(true);
        read_puppetfiles();
        resolve_modules();
    }
    remember_asked();
    check_old_versions();
    drop_unchanged();
    purge_unchanged();
    fetch_trees();
    build();
    switch_over();
    if (config_.purge_deployment) purge();
    run_after(false);
    sources_.prune(kTreeDays);
    return results();
}

Result<std::vector<DeployedEnvironment>> Deployment::run_modules() {
    BUNRAKU_TRY_VOID(check_lock());
    BUNRAKU_TRY_VOID(take_turns());
    BUNRAKU_TRY_VOID(learn_environments(false));
    BUNRAKU_TRY_VOID(choose());
    std::erase_if(plans_, [](const EnvironmentPlan& p) { return p.old_folder.empty(); });
    for (EnvironmentPlan& p : plans_) {
        p.with_modules = true;
        if (p.old.commit.empty()) continue;
        // Pin the environment's own files to their deployed version.
        (p.content.kind == PuppetfileModule::Kind::Tarball ? p.content.checksum : p.content.ref) =
            p.old.commit;
    }
    resolve_contents(true);
    read_puppetfiles();
    for (EnvironmentPlan& p : plans_) {
        for (ModulePlan& m : p.modules) {
            const std::string folder = p.file.modules[m.index].folder();
            m.keeps = std::find(options_.only_modules.begin(), options_.only_modules.end(),
                                folder) == options_.only_modules.end();
            if (!m.keeps) continue;
            auto known = p.old.modules.find(m.path);
            m.identity = known == p.old.modules.end() ? "" : known->second;
        }
        std::erase_if(p.modules, [](const ModulePlan& m) { return m.keeps && m.identity.empty(); });
    }
    resolve_modules();
    check_old_versions();
    drop_unchanged();
    fetch_trees();
    build();
    switch_over();
    run_after(true);
    return results();
}

Result<std::vector<DeployListing>> Deployment::list(bool fetch) {
    BUNRAKU_TRY_VOID(learn_environments(fetch));
    resolve_contents(fetch);
    std::vector<DeployListing> out;
    for (const DeploySource& source : config_.sources) {
        DeployListing listing{.source = &source, .environments = {}};
        for (EnvironmentPlan& p : plans_) {
            if (p.source != &source) continue;
            const VersionState& old = p.old;
            DeployListing::Environment e{.name = p.out.branch,
                                         .dirname = p.out.name,
                                         .signature = old.commit,
                                         .status = p.old_folder.empty()         ? "absent"
                                                   : old.commit == p.out.commit ? "insync"
                                                                                : "outdated",
                                         .modules = {}};
            for (const auto& [path, identity] : old.modules) {
                e.modules.push_back(path + " " + identity);
            }
            listing.environments.push_back(std::move(e));
        }
        out.push_back(std::move(listing));
    }
    return out;
}

ForgeClientOptions Deployment::forge_of(const DeployOptions& options) {
    ForgeClientOptions out = options.forge;
    out.stopped = options.stopped;
    const DeployConfig& config = options.config;
    if (!config.forge_url.empty()) {
        // Do not send the credentials from the settings to another origin than the configured one.
        if (origin_of(config.forge_url) != origin_of(out.url)) out.authorization.clear();
        out.url = config.forge_url;
    }
    if (!config.forge_token.empty()) {
        out.authorization = config.forge_token.find(' ') == std::string::npos
                                ? "Bearer " + config.forge_token
                                : config.forge_token;
    }
    if (out.url.find("://") == std::string::npos) out.url = "https://" + out.url;
    while (out.url.ends_with('/')) out.url.pop_back();
    return out;
}

void Deployment::note(Level level, std::string text) {
    std::unique_lock held(mutex_);
    log_.log(level, std::move(text));
}

void Deployment::fail(EnvironmentPlan& p, const std::string& why) {
    std::unique_lock held(mutex_);
    if (p.failed()) return;
    p.out.what = What::Failed;
    p.out.error = why;
    log_.log(Level::Err, fmt::format("Environment {} is left as it is: {}", p.out.name, why));
}

void Deployment::for_all(int most, const std::function<Result<void>(EnvironmentPlan&)>& work) {
    in_parallel(plans_.size(), most, [&](std::size_t i) {
        EnvironmentPlan& p = plans_[i];
        if (p.failed()) return;
        if (stopped()) return fail(p, "the deploy was stopped");
        if (auto done = work(p); !done) fail(p, done.error().message);
    });
}

int Deployment::few() {
    return std::max(2, static_cast<int>(std::thread::hardware_concurrency()) * 2);
}

Result<void> Deployment::check_lock() const {
    if (config_.write_lock.empty()) return {};
    return failure(
        "Making changes to deployed environments has been administratively "
        "disabled.\nReason: " +
            config_.write_lock,
        16);
}

void Deployment::purge() {
    std::set<std::string> folders;
    for (const DeploySource& s : config_.sources) folders.insert(s.basedir);
    for (const std::string& folder : folders) {
        auto names = system_.files.list(folder);
        if (!names) continue;
        for (const std::string& name : *names) {
            if (name.starts_with('.') || desired_.contains(folder + "/" + name)) continue;
            auto removed = VersionFolders(system_, folder, name).remove();
            DeployedEnvironment e{.what = What::Removed,
                                  .name = name,
                                  .path = folder + "/" + name,
                                  .error = removed ? "" : removed.error().message};
            note(removed ? Level::Notice : Level::Err,
                 removed ? "Removing unmanaged path " + e.path
                         : fmt::format("Unable to remove unmanaged path {}: {}", e.path, e.error));
            missing_.push_back(std::move(e));
        }
    }
}

void Deployment::run_after(bool changed_only) {
    if (config_.postrun.empty()) return;
    std::string names;
    for (const EnvironmentPlan& p : plans_) {
        if (changed_only && p.out.what != What::Deployed) continue;
        names += (names.empty() ? "" : " ") + p.out.name;
    }
    if (changed_only && names.empty()) return;
    sys::Command c;
    for (std::string word : config_.postrun) {
        constexpr std::string_view kNames = "$modifiedenvs";
        for (std::size_t at = 0; (at = word.find(kNames, at)) != word.npos;) {
            word.replace(at, kNames.size(), names);
            at += names.size();
        }
        c.argv.push_back(std::move(word));
    }
    c.timeout = std::chrono::hours(1);
    c.stop = [this] { return stopped() ? sys::Stop::Ask : sys::Stop::No; };
    c.merge_errors = true;
    auto done = system_.processes.run(c);
    if (!done) {
        note(Level::Err, "The postrun command cannot be run: " + done.error().message);
    } else if (!done->ok()) {
        note(Level::Err, fmt::format("The postrun command ended with {}: {}", done->status,
                                     done->output.substr(0, 1000)));
    }
}

std::vector<DeployedEnvironment> Deployment::results() {
    std::vector<DeployedEnvironment> out;
    for (EnvironmentPlan& p : plans_) out.push_back(std::move(p.out));
    for (DeployedEnvironment& e : missing_) out.push_back(std::move(e));
    return out;
}

Result<std::vector<DeployedEnvironment>> deploy_environments(const DeployOptions& options,
                                                             sys::System& system,
                                                             base::LogSink& log) {
    return Deployment(options, system, log).run();
}

Result<std::vector<DeployedEnvironment>> deploy_modules(const DeployOptions& options,
                                                        sys::System& system, base::LogSink& log) {
    return Deployment(options, system, log).run_modules();
}

Result<std::vector<DeployListing>> list_deployment(const DeployOptions& options, bool fetch,
                                                   sys::System& system, base::LogSink& log) {
    return Deployment(options, system, log).list(fetch);
}

namespace {

Result<void> check_before_use(const DeployOptions& options, const DeploySource& source,
                              VersionFolders& folders, const std::string& version,
                              sys::System& system, base::LogSink& log) {
    auto check = BUNRAKU_TRY(check_version(folders, version, system.files));
    if (!check.changes.any()) return {};
    ModuleSources sources(system, options.cache, options.forge, {.stopped = options.stopped});
    const auto left =
        BUNRAKU_TRY(restore_version(folders, version, check, sources, source.remote, system.files));
    if (!left.empty() && !options.force) {
        return failure(
            fmt::format("The previous version has been modified: {}. The "
                        "cache no longer has {}; --force uses the version unchanged",
                        check.text(), left.front()));
    }
    log.log(Level::Warning, fmt::format("The previous version: {}{}", check.text(),
                                        left.empty() ? "; restored" : "; used as it is"));
    return {};
}

}  // namespace

Result<std::string> rollback_environment(const DeployOptions& options, const std::string& name,
                                         sys::System& system, base::LogSink& log) {
    if (name.empty() || name.find('/') != std::string::npos || name.starts_with('.')) {
        return failure(fmt::format("'{}' is not an environment", name));
    }
    for (const DeploySource& source : options.config.sources) {
        VersionFolders folders(system, source.basedir, name);
        if (folders.current().empty()) continue;
        const auto alone = BUNRAKU_TRY(sys::FileLock::acquire(source.basedir + "/.bunraku/.lock"));
        const std::string version = BUNRAKU_TRY(folders.before());
        BUNRAKU_TRY_VOID(check_before_use(options, source, folders, version, system, log));
        BUNRAKU_TRY_VOID(folders.use(version));
        return folders.state().commit;
    }
    return failure(fmt::format("There is no environment '{}' in any source", name));
}

}  // namespace bunraku::module
