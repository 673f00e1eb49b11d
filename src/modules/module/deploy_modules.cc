// SPDX-License-Identifier: Apache-2.0
// Determines the contents of the environments: reads the Puppetfiles, resolves their entries, and
// finds the changes.
#include <algorithm>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "modules/module/deployment.h"
#include "modules/module/module_paths.h"
#include "modules/module/names.h"
#include "modules/module/parallel.h"

namespace bunraku::module {

using base::failure;
using base::Level;
using base::Result;
using What = DeployedEnvironment::What;

void Deployment::read_puppetfiles() {
    for_all(few(), [&](EnvironmentPlan& p) -> Result<void> {
        p.started = std::time(nullptr);
        if (!p.with_modules && p.old.commit == p.out.commit) return {};
        p.tree = BUNRAKU_TRY(content_tree(p));
        const std::string path = p.tree + "/" + p.puppetfile;
        auto text = system_.files.read(path);
        if (!text && p.own_modules.empty()) return {};
        if (text) {
            auto file = read_puppetfile(system_, path, *text, p.out.branch);
            if (!file) return failure(fmt::format("{}: {}", p.puppetfile, file.error().message));
            p.file = std::move(*file);
        }
        for (const PuppetfileModule& m : p.file.modules) {
            for (const std::string& warning : m.warnings) {
                note(Level::Warning,
                     fmt::format("{}: {}: line {}: {}", p.out.name, p.puppetfile, m.line, warning));
            }
        }
        BUNRAKU_TRY_VOID(join_modules(p));
        if (auto lock = system_.files.read(path + ".lock.json")) p.lock = read_lock_file(*lock);
        p.forge =
            config_.forge_override && !p.file.forge.empty() ? p.file.forge : sources_.forge().url;
        if (p.forge.find("://") == std::string::npos) p.forge = "https://" + p.forge;
        // Treats the Puppetfile as if it were in the top folder, regardless of its configured path.
        const ModulePaths places = BUNRAKU_TRY(
            find_module_paths(p.file, p.tree + "/Puppetfile", std::string(), system_.files));
        for (std::size_t i = 0; i < p.file.modules.size(); ++i) {
            if (p.file.modules[i].local()) continue;
            const std::string folder = places.folders[i].substr(
                std::min(places.folders[i].size(), places.base.size() + 1));
            if (!folder.empty()) p.module_folders.push_back(folder);
            p.modules.push_back({.index = i,
                                 .path = places.targets[i].substr(places.base.size() + 1),
                                 .resolved = {}});
        }
        return {};
    });
}

/// Adds the modules of the environment's definition before those of the Puppetfile.
Result<void> Deployment::join_modules(EnvironmentPlan& p) {
    std::vector<PuppetfileModule> all = p.own_modules;
    for (PuppetfileModule& m : p.file.modules) {
        const auto same = [&](const PuppetfileModule& own) { return own.folder() == m.folder(); };
        if (std::ranges::none_of(p.own_modules, same)) {
            all.push_back(std::move(m));
            continue;
        }
        const std::string text = fmt::format("Environment and {} both define the \"{}\" module",
                                             p.puppetfile, m.folder());
        if (p.conflicts == "error") return failure(text);
        if (p.conflicts != "override")
            note(Level::Warning,
                 fmt::format("{}. The {} definition will be ignored", text, p.puppetfile));
    }
    BUNRAKU_ASSERT(all.size() >= p.own_modules.size());
    p.file.modules = std::move(all);
    return {};
}

std::string Deployment::existing_version(const EnvironmentPlan& p, const ModulePlan& m) {
    auto known = p.old.modules.find(m.path);
    auto name = parse_module_name(p.file.modules[m.index].name);
    if (known == p.old.modules.end() || !name) return {};
    const std::string start = "forge " + name->slug() + "-";
    if (!known->second.starts_with(start)) return {};
    const std::string rest = known->second.substr(start.size());
    return rest.substr(0, rest.find(' '));
}

void Deployment::resolve_modules() {
    struct Job {
        EnvironmentPlan* plan;
        ModulePlan* module;
    };
    std::vector<Job> jobs;
    for (EnvironmentPlan& p : plans_) {
        if (!p.with_modules || p.failed()) continue;
        for (ModulePlan& m : p.modules) {
            if (!m.keeps) jobs.push_back({&p, &m});
        }
    }
    in_parallel(jobs.size(), options_.parallel, [&](std::size_t i) {
        EnvironmentPlan& p = *jobs[i].plan;
        ModulePlan& m = *jobs[i].module;
        BUNRAKU_ASSERT(m.index < p.file.modules.size() && !m.keeps);
        const PuppetfileModule& requested = p.file.modules[m.index];
        note(Level::Info,
             fmt::format("Resolving module {} of environment {}", requested.name, p.out.name));
        ResolveOptions by{.installed = existing_version(p, m),
                          .forge = p.forge,
                          .control_branch = p.out.branch,
                          .branch_override = options_.branch_override};
        auto locked = p.lock.find(requested.name);
        if (locked != p.lock.end() && locked->second.requested == request_of(requested)) {
            by.lock = &locked->second;
        }
        auto resolved =
            stopped() ? failure("the deploy was stopped") : sources_.resolve_module(requested, by);
        if (!resolved && requested.ignore_unreachable && !stopped()) {
            note(Level::Warning, fmt::format("Environment {}: {} is left as it is: {}", p.out.name,
                                             requested.name, resolved.error().message));
            const auto known = p.old.modules.find(m.path);
            m.keeps = known != p.old.modules.end();
            m.skipped = !m.keeps;
            if (m.keeps) m.identity = known->second;
            return;
        }
        if (!resolved)
            return fail(p, fmt::format("{}: {}", requested.name, resolved.error().message));
        m.resolved = std::move(*resolved);
        m.identity = m.resolved.identity;
        if (leaves_tests_out(requested)) m.identity += " without spec";
    });
    for (EnvironmentPlan& p : plans_) std::erase_if(p.modules, [](auto& m) { return m.skipped; });
}

bool Deployment::leaves_tests_out(const PuppetfileModule& m) const {
    return m.exclude_spec.value_or(config_.exclude_spec) && !m.own_folder;
}

void Deployment::check_old_versions() {
    for_all(few(), [&](EnvironmentPlan& p) -> Result<void> {
        if (p.old.source.empty()) return {};
        auto check = check_version(*p.folders, p.old_folder, system_.files);
        // A version of an earlier release, or one with a broken manifest, cannot be checked.
        if (!check || !check->manifest) {
            p.anew = !check;
            return {};
        }
        if (check->changes.any()) BUNRAKU_TRY_VOID(undo_changes(p, *check));
        p.old_manifest = std::move(*check->manifest);
        return {};
    });
}

Result<void> Deployment::undo_changes(EnvironmentPlan& p, VersionCheck& check) {
    const std::string what = fmt::format("Environment {}: {}", p.out.name, check.text());
    if (options_.keep_edits) {
        note(Level::Warning, what + "; it remains unchanged");
        std::unique_lock held(mutex_);
        unchanged_.insert(&p);
        return {};
    }
    const auto left =
        BUNRAKU_TRY(restore_version(*p.folders, p.old_folder, check, sources_,
                                    p.content.from_git() ? p.content.source : "", system_.files));
    const std::set<std::string> lost(left.begin(), left.end());
    for (const auto* paths : {&check.changes.edited, &check.changes.deleted})
        for (const std::string& path : *paths)
            if (!lost.contains(path)) p.out.restored.push_back(path);
    p.anew = !left.empty();
    note(Level::Warning, what + (p.anew ? "; it will be rebuilt" : "; restored"));
    if (p.anew && !p.with_modules)
        return failure(fmt::format("{} can be restored with --modules only", left.front()));
    return {};
}

void Deployment::drop_unchanged() {
    for (EnvironmentPlan& p : plans_) {
        if (p.failed() || options_.force || p.anew || p.old.source.empty()) continue;
        // A version created by an earlier release has no manifest.
        if (p.with_modules && p.old.files.empty()) continue;
        if (p.old.commit != p.out.commit) continue;
        bool same = true;
        if (p.with_modules) {
            for (const ModulePlan& m : p.modules) {
                auto known = p.old.modules.find(m.path);
                same = same && known != p.old.modules.end() && known->second == m.identity;
            }
            same = same &&
                   (p.modules.size() == p.old.modules.size() || !options_.only_modules.empty());
        }
        if (!same) continue;
        unchanged_.insert(&p);
        if (!p.out.restored.empty()) p.out.what = What::Deployed;
    }
}

void Deployment::purge_unchanged() {
    for_all(few(), [&](EnvironmentPlan& p) -> Result<void> {
        if (changes(p) || options_.keep_edits || p.old_manifest.entries().empty()) return {};
        const CarryRules rules = carry_rules(p);
        for (const std::string& path :
             BUNRAKU_TRY(not_carried(system_.files, p.old_folder, p.old_manifest, rules))) {
            note(Level::Notice, fmt::format("Removing unmanaged path {}/{}", p.out.path, path));
            BUNRAKU_TRY_VOID(system_.files.remove_all(p.old_folder + "/" + path));
            p.out.what = What::Deployed;
        }
        return {};
    });
}

void Deployment::fetch_trees() {
    struct Job {
        EnvironmentPlan* plan;
        ModulePlan* module;
    };
    // Process each content once; the other modules with the same content then find it in the cache.
    std::map<std::string, std::vector<Job>> by_content;
    for (EnvironmentPlan& p : plans_) {
        if (!changes(p) || !p.with_modules) continue;
        for (ModulePlan& m : p.modules) {
            if (m.keeps) continue;
            by_content[m.resolved.identity + " " + m.resolved.forge + " " + m.resolved.sha256]
                .push_back({&p, &m});
        }
    }
    std::vector<std::vector<Job>*> contents;
    for (auto& [identity, jobs] : by_content) contents.push_back(&jobs);
    in_parallel(contents.size(), options_.parallel, [&](std::size_t i) {
        base::Result<std::string> tree;
        for (const Job& job : *contents[i]) {
            BUNRAKU_ASSERT(job.module->index < job.plan->file.modules.size());
            const PuppetfileModule& requested = job.plan->file.modules[job.module->index];
            // After a failure, do not try the same content again.
            if (tree) {
                tree = stopped() ? failure("the deploy was stopped")
                                 : sources_.tree(requested, job.module->resolved);
            }
            if (tree) {
                job.module->tree = *tree;
            } else {
                fail(*job.plan, fmt::format("{}: {}", requested.name, tree.error().message));
            }
        }
    });
}

}  // namespace bunraku::module
