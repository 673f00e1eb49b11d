// SPDX-License-Identifier: Apache-2.0
#include "services/rollout/deployed.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/sys/file_system.h"
#include "modules/module/deploy_folder.h"

namespace bunraku::rollout {

using base::failure;
using base::Result;

namespace {

module::VersionFolders folders_of(sys::System& system, const std::string& link) {
    return {system, std::string(sys::directory_name(link)), std::string(sys::base_name(link))};
}

bool valid_name(std::string_view name) {
    return !name.empty() && !name.starts_with('.') && name.find('/') == std::string_view::npos;
}

}  // namespace

Result<std::string> Deployed::link(std::string_view environment) const {
    for (const std::string& parent : path_) {
        if (!valid_name(environment)) break;
        std::string out = fmt::format("{}/{}", parent, environment);
        if (!system_.files.is_directory(out)) continue;
        if (module::versions_beside(system_.files, out).empty()) {
            return failure(fmt::format(
                "The environment '{}' has no versions, because 'bunraku deploy' did not make it. "
                "Run 'bunraku deploy environment {}' once",
                environment, environment));
        }
        return out;
    }
    return failure(fmt::format("There is no environment '{}'", environment));
}

Result<std::vector<DeployedVersion>> Deployed::versions(std::string_view environment) const {
    const std::string path = BUNRAKU_TRY(link(environment));
    auto folders = folders_of(system_, path);
    const std::string now = folders.current();
    std::vector<DeployedVersion> out;
    for (const std::string& folder : module::versions_beside(system_.files, path)) {
        if (!system_.files.is_directory(folder)) continue;
        const module::VersionState state = folders.state_of(folder);
        out.push_back({.name = std::string(sys::base_name(folder)),
                       .folder = folder,
                       .commit = state.commit,
                       .files = state.files,
                       .base = folder == now});
    }
    std::ranges::sort(out, {}, &DeployedVersion::name);
    return out;
}

Result<DeployedVersion> Deployed::base(std::string_view environment) const {
    for (DeployedVersion& version : BUNRAKU_TRY(versions(environment)))
        if (version.base) return std::move(version);
    return failure(fmt::format("The environment '{}' does not point to a version", environment));
}

Result<std::int64_t> Deployed::base_since(std::string_view environment) const {
    const auto status = BUNRAKU_TRY(system_.files.lstat(BUNRAKU_TRY(link(environment))));
    return status.mtime_ns / 1'000'000;
}

Result<DeployedVersion> Deployed::find(std::string_view environment, std::string_view text) const {
    std::vector<DeployedVersion> found;
    for (DeployedVersion& version : BUNRAKU_TRY(versions(environment))) {
        if (version.name == text) return std::move(version);
        if (!text.empty() && (version.name.starts_with(text) || version.commit.starts_with(text)))
            found.push_back(std::move(version));
    }
    if (found.size() == 1) return std::move(found[0]);
    if (found.empty()) {
        return failure(fmt::format(
            "There is no version '{}' of environment '{}' on this server. 'bunraku deploy "
            "environment {}' makes versions",
            text, environment, environment));
    }
    std::string names;
    for (const auto& version : found) names += (names.empty() ? "" : ", ") + version.name;
    return failure(fmt::format("'{}' names several versions: {}", text, names));
}

Result<void> Deployed::use(std::string_view environment, std::string_view version) const {
    const DeployedVersion found = BUNRAKU_TRY(find(environment, version));
    if (found.base) return {};
    return folders_of(system_, BUNRAKU_TRY(link(environment))).use(found.folder);
}

void Deployed::retain(std::string_view environment, std::string_view version) const {
    const auto found = find(environment, version);
    const auto path = link(environment);
    if (found && path) (void)folders_of(system_, *path).retain(found->folder);
}

std::vector<std::string> Deployed::environments() const {
    std::vector<std::string> out;
    for (const std::string& parent : path_) {
        for (const std::string& name :
             system_.files.list(parent).value_or(std::vector<std::string>())) {
            const bool known = std::ranges::find(out, name) != out.end();
            if (!known && link(name)) out.push_back(name);
        }
    }
    std::ranges::sort(out);
    return out;
}

Result<std::string> Deployed::rules_text(const DeployedVersion& version) const {
    const auto text = BUNRAKU_TRY(system_.files.read_if_there(version.folder + "/rollout.yaml"));
    return text.value_or("");
}

}  // namespace bunraku::rollout
