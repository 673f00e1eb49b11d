// SPDX-License-Identifier: Apache-2.0
// The versions of environments on the disk of this server.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/sys/system.h"
#include "services/rollout/plan.h"

namespace bunraku::rollout {

struct DeployedVersion {
    std::string name;    ///< name of its folder
    std::string folder;  ///< path of its folder
    std::string commit;
    std::string files;  ///< digest of all files; empty if it has no manifest
    bool base = false;  ///< true for the version that the environment's link points to
    PlannedVersion planned() const { return {.version = name, .commit = commit, .files = files}; }
};

/// The environments below `environmentpath`.
class Deployed {
public:
    Deployed(sys::System& system, std::vector<std::string> environmentpath)
        : system_(system), path_(std::move(environmentpath)) {}

    /// Returns the path of the environment, which is a link if `deploy` made it. Fails if the
    /// environment does not exist or has no versions, and says what to do.
    base::Result<std::string> link(std::string_view environment) const;
    /// Returns the versions, sorted by name.
    base::Result<std::vector<DeployedVersion>> versions(std::string_view environment) const;
    /// Returns the base of the environment.
    base::Result<DeployedVersion> base(std::string_view environment) const;
    /// Returns since when the environment has its base, in milliseconds since the epoch.
    base::Result<std::int64_t> base_since(std::string_view environment) const;
    /// Returns the version that `text` names: its name, its commit, or a unique beginning of
    /// either.
    base::Result<DeployedVersion> find(std::string_view environment, std::string_view text) const;
    /// Switches the environment to a version, in one step.
    base::Result<void> use(std::string_view environment, std::string_view version) const;
    /// Protects a version from being removed by deploys for the next hour.
    void retain(std::string_view environment, std::string_view version) const;
    /// Returns the names of environments that have versions.
    std::vector<std::string> environments() const;
    /// Returns the text of rollout.yaml in a version; empty if it has none.
    base::Result<std::string> rules_text(const DeployedVersion& version) const;

private:
    sys::System& system_;
    std::vector<std::string> path_;
};

}  // namespace bunraku::rollout
