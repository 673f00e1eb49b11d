// SPDX-License-Identifier: Apache-2.0
#include "services/server/environment_versions.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/assert.h"
#include "core/sys/disk.h"
#include "language/environment/conf.h"
#include "language/environment/overlaid_files.h"
#include "modules/module/deploy_folder.h"
#include "services/server/puppet_api.h"

namespace bunraku::server {

namespace {

/// Number of versions of an environment whose code stays in memory: the base, the previous base,
/// and one that single nodes try.
constexpr std::size_t kMostLive = 3;

/// Returns the version of an answer of the authority. Throws Unavailable.
template <class T>
T known(base::Result<T> answer, const NodeRun& run) {
    if (answer) return std::move(*answer);
    throw Unavailable(fmt::format("The version of the environment '{}' for {} is not known: {}",
                                  run.environment, run.node, answer.error().message));
}

}  // namespace

void PlacedVersion::place(site::Sources& to) const {
    to.directory = sources.directory;
    to.files = sources.files;
    to.reads = sources.reads;
    to.previous = sources.previous;
}

EnvironmentVersions::EnvironmentVersions(const config::Settings& settings,
                                         std::shared_ptr<const environment::Files> files,
                                         std::shared_ptr<VersionAuthority> authority,
                                         std::function<void(const PlacedVersion&)> forget)
    : settings_(settings),
      files_(files ? std::move(files) : environment::disk_files()),
      authority_(std::move(authority)),
      forget_(std::move(forget)) {
    BUNRAKU_ASSERT(authority_ && forget_);
}

std::string EnvironmentVersions::own_path(const std::string& name) const {
    if (!environment::valid_environment_name(name)) return {};
    for (const auto& parent : settings_.list("environmentpath")) {
        auto path = environment::expand_path(parent, environment::working_directory()) + "/" + name;
        if (files_->stat(path).directory) return path;
    }
    return {};
}

/// Returns the state of an environment and its present base.
EnvironmentVersions::Found EnvironmentVersions::find(const std::string& name) {
    std::shared_ptr<Environment> out;
    {
        const std::lock_guard lock(mutex_);
        const auto it = environments_.find(name);
        if (it != environments_.end()) out = it->second;
    }
    if (!out) {
        // Clients choose the name, so only existing environments are remembered.
        if (own_path(name).empty()) return {};
        const std::lock_guard lock(mutex_);
        out = environments_.try_emplace(name, std::make_shared<Environment>()).first->second;
    }
    const std::lock_guard lock(out->mutex);
    look(*out, name);
    auto base = out->base;
    return {std::move(out), std::move(base)};
}

/// Reads the link of the environment, unless nothing has changed since the last time.
void EnvironmentVersions::look(Environment& environment, const std::string& name) {
    const auto moment = files_->moment();
    if (moment && environment.moment == moment) return;
    environment.path = own_path(name);
    const auto target = environment.path.empty() ? std::nullopt : files_->link(environment.path);
    const auto folder = target ? sys::disk().real_path(environment.path)
                               : base::Result<std::string>(base::failure("no link"));
    if (!folder) {
        environment.base = nullptr;
    } else if (!environment.base || environment.base->folder != *folder) {
        auto version = module::version_name(*folder);
        const auto known = std::ranges::find(environment.live, *folder,
                                             [](const auto& one) { return one.version->folder; });
        environment.base = known != environment.live.end()
                               ? known->version
                               : place(environment, std::move(version), *folder);
        authority_->base(name, environment.base->name);
    }
    environment.moment = moment;
}

/// Adds a version to those whose code stays in memory.
std::shared_ptr<const PlacedVersion> EnvironmentVersions::place(Environment& environment,
                                                                std::string name,
                                                                std::string folder) {
    auto out = std::make_shared<PlacedVersion>();
    out->name = std::move(name);
    out->folder = std::move(folder);
    if (!environment.reads) environment.reads = std::make_shared<environment::ReadTable>();
    out->sources.reads = environment.reads;
    if (environment.base) out->sources.previous = environment.base->sources.files;
    if (settings_.boolean("versioned_environment_dirs")) {
        // Catalogs contain the paths of the version. Each version has its own view of the files, so
        // that its snapshot can be dropped.
        out->sources.directory = out->folder;
        out->sources.files = environment::mapped_files(files_, out->folder, out->folder);
    } else {
        out->sources.files = environment::mapped_files(files_, environment.path, out->folder);
    }
    environment.live.insert(environment.live.begin(), {out, std::nullopt});
    while (environment.live.size() > kMostLive) {
        const auto oldest = std::find_if(
            environment.live.rbegin(), environment.live.rend(),
            [&](const auto& one) { return one.version != environment.base && one.version != out; });
        BUNRAKU_ASSERT(oldest != environment.live.rend());
        forget_(*oldest->version);
        environment.live.erase(std::next(oldest).base());
    }
    return out;
}

/// Returns the version of this name, or null if its folder does not exist. The environment must be
/// locked.
std::shared_ptr<const PlacedVersion> EnvironmentVersions::live(Environment& environment,
                                                               const std::string& name) {
    const auto it = std::ranges::find(environment.live, name,
                                      [](const auto& one) { return one.version->name; });
    if (it == environment.live.end()) {
        BUNRAKU_ASSERT(environment.base);
        auto folder = module::version_folder(sys::disk(), environment.base->folder, name);
        if (!folder) return nullptr;
        return place(environment, name, std::move(*folder));
    }
    const auto moment = files_->moment();
    if (!moment || it->moment != moment) {
        if (!files_->stat(it->version->folder).directory) {
            forget_(*it->version);
            environment.live.erase(it);
            return nullptr;
        }
        it->moment = moment;
    }
    std::rotate(environment.live.begin(), it, it + 1);
    return environment.live.front().version;
}

std::shared_ptr<const PlacedVersion> EnvironmentVersions::base(const std::string& name) {
    return find(name).base;
}

std::shared_ptr<const PlacedVersion> EnvironmentVersions::begin(Environment& environment,
                                                                const NodeRun& run) {
    std::string wanted;
    {
        const auto target = authority_->target(run.environment, run.node);
        const std::lock_guard lock(environment.mutex);
        if (!environment.base) return nullptr;
        // A version that somebody removed gives way to the base.
        const bool there = target && live(environment, *target);
        wanted = there ? *target : environment.base->name;
    }
    const auto name = known(authority_->begin(run, wanted), run);
    const std::lock_guard lock(environment.mutex);
    auto out = environment.base ? live(environment, name) : nullptr;
    if (!out && environment.base)
        throw Unavailable(
            fmt::format("This server does not have the version {} of the environment "
                        "'{}', which {} shall have",
                        name, run.environment, run.node));
    return out;
}

std::shared_ptr<const PlacedVersion> EnvironmentVersions::of(const NodeRun& run, RunStep step) {
    const auto [found, base] = find(std::string(run.environment));
    if (!base || run.node.empty()) return base;
    auto asked = run;
    asked.implied = step != RunStep::Begins;
    if (step == RunStep::Begins || !run.transaction.empty()) return begin(*found, asked);
    const auto name = known(authority_->current(run.environment, run.node), run);
    if (!name) {
        return step == RunStep::Looks ? base : begin(*found, asked);
    }
    if (*name == base->name) return base;
    const std::lock_guard lock(found->mutex);
    auto out = found->base ? live(*found, *name) : nullptr;
    if (!out) {
        throw Unavailable(
            fmt::format("The version {} of the environment '{}', with which the run "
                        "of {} began, does not exist any more",
                        *name, run.environment, run.node));
    }
    return out;
}

void EnvironmentVersions::clear() {
    const std::lock_guard lock(mutex_);
    environments_.clear();
}

}  // namespace bunraku::server
