// SPDX-License-Identifier: Apache-2.0
// Builds the versions from their contents and switches the links to them.
#include <algorithm>
#include <cstdlib>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/base/assert.h"
#include "core/sys/descriptor.h"
#include "modules/module/deployment.h"
#include "modules/module/parallel.h"

namespace bunraku::module {

using base::failure;
using base::Level;
using base::Result;
using What = DeployedEnvironment::What;

void Deployment::build() {
    for_all(few(), [&](EnvironmentPlan& p) -> Result<void> {
        if (!changes(p)) return {};
        auto done = build_one(p);
        if (!done) (void)system_.files.remove_all(p.folders->fresh());
        return done;
    });
}

std::string Deployment::alike(const EnvironmentPlan& p, const std::string& path) const {
    return p.old_folder.empty() || options_.force || p.anew ? "" : p.old_folder + "/" + path;
}

bool Deployment::copy_on_write(const std::vector<ModulePlan>& modules) {
    std::set<std::string> paths;
    for (const ModulePlan& m : modules) paths.insert(m.path + "/");
    std::string before;
    for (const std::string& path : paths) {
        if (!before.empty() && path.starts_with(before)) return false;
        before = path;
    }
    return true;
}

Result<void> Deployment::place(const EnvironmentPlan& p, const ModulePlan& m,
                               const std::string& fresh) {
    auto& files = system_.files;
    BUNRAKU_ASSERT(!m.path.empty() && !m.skipped);
    BUNRAKU_ASSERT(m.index < p.file.modules.size());
    const std::string to = fresh + "/" + m.path;
    const std::string& from = m.keeps ? p.old_folder + "/" + m.path : m.tree;
    BUNRAKU_TRY_VOID(files.make_directories(std::string(sys::directory_name(to))));
    BUNRAKU_TRY_VOID(files.remove_all(to));
    std::set<std::string> without;
    if (!m.keeps && leaves_tests_out(p.file.modules[m.index])) without.insert("spec");
    auto known = p.old.modules.find(m.path);
    const bool same = known != p.old.modules.end() && known->second == m.identity;
    return copy_tree(from, to, without, same ? alike(p, m.path) : "");
}

namespace {

bool in_module(const VersionState& state, const std::string& path) {
    return std::ranges::any_of(state.modules,
                               [&](const auto& m) { return path.starts_with(m.first + "/"); });
}

}  // namespace

CarryRules Deployment::carry_rules(const EnvironmentPlan& p) {
    CarryRules rules{.purge_environment = config_.purge_environment,
                     .purge_puppetfile = config_.purge_puppetfile,
                     .allowlist = config_.purge_allowlist};
    if (p.with_modules) rules.module_folders = p.module_folders;
    rules.keep_modules = !p.with_modules || !config_.purge_puppetfile;
    for (const auto& [path, identity] : p.old.modules) {
        const bool stays = p.with_modules &&
                           std::ranges::find(p.modules, path, &ModulePlan::path) != p.modules.end();
        if (!stays) rules.module_paths.push_back(path);
    }
    // If no list of the old version's managed files is available, all of them are carried over.
    if (!p.old_manifest.entries().empty()) {
        for (const auto& [path, entry] : p.old_manifest.entries())
            if (!in_module(p.old, path)) rules.managed.push_back(path);
    } else if (is_commit(p.old.commit)) {
        auto paths = sources_.commit_paths(p.source->remote, p.old.commit);
        if (paths) rules.managed = std::move(*paths);
    }
    return rules;
}

Result<void> Deployment::build_one(EnvironmentPlan& p) {
    auto& files = system_.files;
    BUNRAKU_ASSERT(p.folders && p.version.empty() && !p.failed());
    const std::string fresh = p.folders->fresh();
    BUNRAKU_TRY_VOID(files.make_directories(std::string(sys::directory_name(fresh))));
    BUNRAKU_TRY_VOID(files.remove_all(fresh));
    if (p.tree.empty()) {
        p.tree = BUNRAKU_TRY(content_tree(p));
    }
    BUNRAKU_TRY_VOID(
        copy_tree(p.tree, fresh, {}, p.old.commit == p.out.commit ? alike(p, "") : ""));
    VersionState state{
        .source = p.out.source, .branch = p.out.branch, .commit = p.out.commit, .modules = {}};
    VersionManifest manifest;
    BUNRAKU_TRY_VOID(manifest.add(files, fresh, "", p.old_manifest, p.old_folder));
    manifest.forget(".r10k-deploy.json");
    if (p.with_modules) {
        std::vector<Result<void>> placed(p.modules.size());
        in_parallel(p.modules.size(), copy_on_write(p.modules) ? few() : 1,
                    [&](std::size_t i) { placed[i] = place(p, p.modules[i], fresh); });
        for (std::size_t i = 0; i < placed.size(); ++i) {
            BUNRAKU_TRY_VOID(placed[i]);
            const ModulePlan& m = p.modules[i];
            state.modules[m.path] = m.identity;
            if (!m.keeps) {
                state.trees[m.path] = sys::base_name(m.tree);
            } else if (auto tree = p.old.trees.find(m.path); tree != p.old.trees.end()) {
                state.trees.insert(*tree);
            }
        }
    } else {
        state.modules = p.old.modules;
        state.trees = p.old.trees;
    }
    BUNRAKU_ASSERT(!p.with_modules || state.modules.size() <= p.modules.size());
    state.trees["."] = sys::base_name(p.tree);
    p.out.modules = static_cast<int>(state.modules.size());
    if (!p.old_folder.empty()) {
        BUNRAKU_TRY_VOID(carry_over(files, p.old_folder, fresh, carry_rules(p)));
    }
    for (const auto& [path, identity] : state.modules)
        BUNRAKU_TRY_VOID(list_module(p, path, fresh, manifest));
    BUNRAKU_TRY_VOID(files.replace(fresh + "/.r10k-deploy.json", deploy_info(p), {.mode = 0644}));
    if (p.content.from_git()) {
        BUNRAKU_TRY_VOID(
            make_git_folder(files, fresh, p.out.commit, mirror_path(p.content.source)));
        // Without an index, the commit can still be read.
        (void)write_git_index(system_, fresh, p.out.commit);
    }
    p.version = BUNRAKU_TRY(p.folders->finish(std::move(state), manifest));
    return {};
}

Result<void> Deployment::list_module(const EnvironmentPlan& p, const std::string& path,
                                     const std::string& fresh, VersionManifest& manifest) {
    const auto plan = std::ranges::find(p.modules, path, &ModulePlan::path);
    const bool placed = p.with_modules && plan != p.modules.end();
    if (placed) {
        manifest.forget(path + "/");
    } else if (manifest.holds(path + "/")) {
        return {};  // the branch now contains this folder itself
    }
    if ((!placed || plan->keeps) && p.old_manifest.holds(path + "/")) {
        manifest.adopt(system_.files, fresh, path + "/", p.old_manifest);
        return {};
    }
    if (!system_.files.is_directory(fresh + "/" + path)) return {};
    return manifest.add(system_.files, fresh, path + "/", p.old_manifest, p.old_folder);
}

DeployInfo::Module Deployment::deployed(const PuppetfileModule& requested,
                                        const ResolvedModule& s) {
    using Kind = PuppetfileModule::Kind;
    switch (requested.kind) {
        case Kind::Git: return {requested.folder(), s.ref, s.commit};
        case Kind::Svn: return {requested.folder(), s.commit, ""};
        case Kind::Tarball: return {requested.folder(), s.sha256, ""};
        default: return {requested.folder(), s.version, ""};
    }
}

std::string Deployment::deploy_info(const EnvironmentPlan& p) const {
    DeployInfo info{.name = p.out.branch,
                    .signature = p.out.commit,
                    .started = p.started,
                    .finished = std::time(nullptr),
                    .modules = {}};
    const auto before = deployed_modules(system_.files, p.old_folder);
    if (!p.with_modules) {
        info.modules = before;
        return info.text();
    }
    for (std::size_t i = 0; i < p.file.modules.size(); ++i) {
        const PuppetfileModule& requested = p.file.modules[i];
        const auto plan = std::ranges::find(p.modules, i, &ModulePlan::index);
        const auto old = std::ranges::find(before, requested.folder(), &DeployInfo::Module::name);
        if (requested.local()) {
            info.modules.push_back({requested.folder(), "0.0.0 (local)", ""});
        } else if (plan != p.modules.end() && !plan->keeps) {
            info.modules.push_back(deployed(requested, plan->resolved));
        } else if (old != before.end()) {
            info.modules.push_back(*old);
        }
    }
    return info.text();
}

void Deployment::switch_over() {
    bool any = false;
    for (const EnvironmentPlan& p : plans_) any |= !p.version.empty();
    if (any) {
        // Sync the files before the links, so that after a power failure no link refers to
        // incomplete files.
        std::set<std::string> folders = {options_.cache};
        for (const DeploySource& s : config_.sources) folders.insert(s.basedir);
        std::set<dev_t> waited_for;
        for (const std::string& folder : folders) {
            const sys::Descriptor fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
            struct stat status{};
            if (fd.get() < 0 || ::fstat(fd.get(), &status) != 0) continue;
            if (waited_for.insert(status.st_dev).second) ::syncfs(fd.get());
        }
    }
    for_all(1, [&](EnvironmentPlan& p) -> Result<void> {
        if (!p.version.empty()) {
            BUNRAKU_ASSERT(changes(p) && p.version != p.old_folder);
            // Nodes could not go back to a folder that is not a version.
            if (!options_.now && in_version(system_.files, p.folders->path()) &&
                system_.files.is_file(p.version + "/rollout.yaml")) {
                p.out.what = DeployedEnvironment::What::Prepared;
                note(Level::Notice,
                     fmt::format("Version {} of environment {} is ready for a rollout",
                                 sys::base_name(p.version), p.out.name));
                return {};
            }
            BUNRAKU_TRY_VOID(p.folders->use(p.version));
            p.out.what = What::Deployed;
            note(Level::Notice,
                 fmt::format("Environment {} is now at {}", p.out.name, p.out.commit));
        }
        return {};
    });
    in_parallel(plans_.size(), few(), [&](std::size_t i) {
        plans_[i].folders->tidy(std::max(2, options_.keep), options_.keep_for);
    });
}

}  // namespace bunraku::module
