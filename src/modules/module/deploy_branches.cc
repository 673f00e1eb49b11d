// SPDX-License-Identifier: Apache-2.0
// Determines the environments to deploy: the branches of the sources, their names and collisions.
#include <algorithm>
#include <fmt/format.h>

#include "core/codec/json_text.h"
#include "modules/module/deployment.h"
#include "modules/module/feed.h"
#include "modules/module/parallel.h"

namespace bunraku::module {

using base::failure;
using base::Level;
using base::Result;
using What = DeployedEnvironment::What;

Result<void> Deployment::take_turns() {
    std::set<std::string> folders;
    for (const DeploySource& s : config_.sources) folders.insert(s.basedir);
    for (const std::string& folder : folders) {
        BUNRAKU_TRY_VOID(system_.files.make_directories(folder + "/.bunraku"));
        locks_.push_back(BUNRAKU_TRY(wait_for_lock(folder + "/.bunraku/.lock", options_.stopped)));
    }
    return {};
}

Result<void> Deployment::learn_environments(bool fetch) {
    const std::size_t count = config_.sources.size();
    std::vector<Result<std::vector<EnvironmentDefinition>>> found(count);
    in_parallel(count, options_.parallel,
                [&](std::size_t i) { found[i] = environments_of(config_.sources[i], fetch); });
    for (std::size_t i = 0; i < count; ++i) {
        if (!found[i]) return std::unexpected(found[i].error());
        for (EnvironmentDefinition& d : *found[i]) add_plan(config_.sources[i], std::move(d));
    }
    // If a filter command was interrupted, its result is unknown, and the environment of the branch
    // must not be removed.
    if (stopped()) return failure("the deploy was stopped");
    return no_collisions();
}

void Deployment::resolve_contents(bool fetch) {
    for_all(options_.parallel, [&](EnvironmentPlan& p) { return resolve_content(p, fetch); });
}

Result<std::vector<EnvironmentDefinition>> Deployment::environments_of(const DeploySource& source,
                                                                       bool fetch) {
    if (source.type == "git") return git_branches(source, fetch);
    auto out = source.type == "svn" ? svn_branches(source) : definitions_of(source, system_);
    // An unreachable source must not cause the removal of all its environments.
    if (!out) {
        return failure(fmt::format("Unable to determine the environments of source '{}' ({}): {}",
                                   source.name, source.basedir, out.error().message));
    }
    return out;
}

Result<std::vector<EnvironmentDefinition>> Deployment::git_branches(const DeploySource& source,
                                                                    bool fetch) {
    Result<std::map<std::string, std::string>> refs;
    if (fetch) {
        refs = sources_.refs(source.remote);
    } else if (auto done = sources_.with_mirror(source.remote,
                                                [&](GitMirror& mirror) -> Result<void> {
                                                    refs = mirror.refs();
                                                    return {};
                                                });
               !done) {
        refs = std::unexpected(done.error());
    }
    if (!refs) {
        return failure(
            fmt::format("Unable to determine current branches for Git source '{}' ({}): {}",
                        source.name, source.basedir, refs.error().message));
    }
    std::vector<EnvironmentDefinition> out;
    bool branches = false;
    constexpr std::string_view kHeads = "refs/heads/";
    for (const auto& [ref, commit] : *refs) {
        if (!ref.starts_with(kHeads)) continue;
        branches = true;
        EnvironmentDefinition d;
        d.name = ref.substr(kHeads.size());
        d.puppetfile = source.puppetfile;
        d.content.kind = PuppetfileModule::Kind::Git;
        d.content.source = source.remote;
        d.content.ref = commit;
        if (!filtered(source, d.name)) out.push_back(std::move(d));
    }
    // A repository without branches must not cause the removal of all its environments.
    if (!branches && fetch) {
        return failure(fmt::format("Git source '{}' ({}) has no branches", source.name,
                                   shown_url(source.remote)));
    }
    return out;
}

Result<std::vector<EnvironmentDefinition>> Deployment::svn_branches(const DeploySource& source) {
    std::vector<EnvironmentDefinition> out;
    EnvironmentDefinition d;
    d.puppetfile = source.puppetfile;
    d.content.kind = PuppetfileModule::Kind::Svn;
    d.content.user = source.user;
    d.content.password = source.password;
    const auto add = [&](const std::string& name, const std::string& folder) {
        d.name = name;
        d.content.source = fmt::format("{}/{}", source.remote, folder);
        out.push_back(d);
    };
    // r10k's rule: trunk becomes production.
    add("production", "trunk");
    d.content.source = source.remote + "/branches";
    for (const std::string& name : BUNRAKU_TRY(sources_.svn_folders(d.content)))
        if (!filtered(source, name)) add(name, "branches/" + name);
    return out;
}

bool Deployment::filtered(const DeploySource& source, const std::string& branch) {
    for (const std::string& prefix : source.ignore_branch_prefixes) {
        if (!branch.starts_with(prefix)) continue;
        note(Level::Info,
             fmt::format("Branch {} filtered out by ignore_branch_prefixes {}", branch, prefix));
        return true;
    }
    if (source.filter_command.empty()) return false;
    sys::Command c;
    c.argv = {"/bin/sh", "-c", source.filter_command};
    c.environment = {{"R10K_BRANCH", branch}, {"R10K_NAME", source.name}};
    if (source.type == "git") c.environment.emplace_back("GIT_DIR", mirror_path(source.remote));
    c.timeout = std::chrono::minutes(5);
    c.stop = [this] { return stopped() ? sys::Stop::Ask : sys::Stop::No; };
    auto done = system_.processes.run(c);
    if (done && done->ok()) return false;
    note(Level::Info, fmt::format("Branch `{}:{}` filtered out by filter_command {}", source.name,
                                  branch, source.filter_command));
    return true;
}

std::string Deployment::mirror_path(const std::string& url) {
    std::string out;
    (void)sources_.with_mirror(url, [&](GitMirror& mirror) -> Result<void> {
        out = mirror.path();
        return {};
    });
    return out;
}

void Deployment::add_plan(const DeploySource& source, EnvironmentDefinition definition) {
    const BranchName name = environment_of_branch(source, definition.name);
    if (name.refused) {
        note(Level::Err, fmt::format("Environment {} contained non-word characters, ignoring it.",
                                     codec::json_string(name.name)));
        return;
    }
    if (name.corrected && source.invalid_branches == "correct_and_warn") {
        note(Level::Warning,
             fmt::format("Environment {} contained non-word characters, correcting name to {}",
                         codec::json_string(name.name), name.dirname));
    }
    for (const std::string& warning : definition.warnings)
        note(Level::Warning, fmt::format("Environment {}: {}", name.dirname, warning));
    EnvironmentPlan p;
    p.source = &source;
    p.out.source = source.name;
    p.out.branch = definition.name;
    p.out.name = name.dirname;
    p.out.path = source.basedir + "/" + name.dirname;
    p.content = std::move(definition.content);
    p.own_modules = std::move(definition.modules);
    p.conflicts = std::move(definition.conflicts);
    p.puppetfile = std::move(definition.puppetfile);
    p.folders.emplace(system_, source.basedir, name.dirname);
    p.old_folder = p.folders->current();
    p.old = p.folders->state();
    plans_.push_back(std::move(p));
}

Result<void> Deployment::resolve_content(EnvironmentPlan& p, bool fetch) {
    using Kind = PuppetfileModule::Kind;
    if (p.content.kind == Kind::Local) {
        p.out.commit = "plain-default";
    } else if (p.content.kind == Kind::Git && is_commit(p.content.ref)) {
        p.out.commit = p.content.ref;
    } else if (!fetch) {
        p.out.commit = p.old.commit;
    } else {
        p.resolved = BUNRAKU_TRY(sources_.resolve_module(p.content, {}));
        p.out.commit = p.content.kind == Kind::Tarball ? p.resolved.sha256 : p.resolved.commit;
    }
    return {};
}

Result<std::string> Deployment::content_tree(EnvironmentPlan& p) {
    using Kind = PuppetfileModule::Kind;
    if (p.content.kind == Kind::Git) return sources_.commit_tree(p.content.source, p.out.commit);
    if (p.content.kind == Kind::Local) return sources_.empty_tree();
    return sources_.tree(p.content, p.resolved);
}

Result<void> Deployment::no_collisions() {
    std::map<std::string, const EnvironmentPlan*> seen;
    for (const EnvironmentPlan& p : plans_) {
        auto [it, fresh] = seen.emplace(p.out.path, &p);
        if (fresh) continue;
        return failure(fmt::format("Environment collision at {} between {}:{} and {}:{}",
                                   p.out.path, p.out.source, p.out.branch, it->second->out.source,
                                   it->second->out.branch));
    }
    for (const EnvironmentPlan& p : plans_) desired_.insert(p.out.path);
    return {};
}

Result<void> Deployment::choose() {
    if (options_.environments.empty()) {
        for (EnvironmentPlan& p : plans_) p.with_modules = wants_modules(p);
        return {};
    }
    std::set<std::string> wanted;
    for (std::string name : options_.environments) {
        // Like r10k, accept the name of the branch.
        for (char& c : name) {
            const bool word = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                              (c >= '0' && c <= '9') || c == '_';
            if (!word) c = '_';
        }
        wanted.insert(std::move(name));
    }
    std::set<std::string> unknown = wanted;
    for (const EnvironmentPlan& p : plans_) unknown.erase(p.out.name);
    std::erase_if(plans_, [&](const EnvironmentPlan& p) { return !wanted.contains(p.out.name); });
    for (EnvironmentPlan& p : plans_) p.with_modules = wants_modules(p);
    for (const std::string& name : unknown) {
        note(Level::Err, fmt::format("Environment(s) '{}' cannot be found in any source and "
                                     "will not be deployed.",
                                     name));
        missing_.push_back({.what = What::Failed, .name = name, .error = "it is in no source"});
    }
    return {};
}

bool Deployment::wants_modules(const EnvironmentPlan& p) const {
    return options_.modules || p.old_folder.empty();
}

}  // namespace bunraku::module
