// SPDX-License-Identifier: Apache-2.0
// The published repositories of this server's forge. The forge may be a role of this process, or
// commands of another one that share its folder.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "modules/forge/forge_store.h"
#include "modules/forge/snapshot.h"

namespace bunraku::console {

/// Thread-safe.
class PublishedModules {
public:
    /// `root` is the folder of the forge, which need not exist.
    explicit PublishedModules(std::string root) : store_(std::move(root)) {}
    using Snapshots = std::vector<std::shared_ptr<const forge::Snapshot>>;
    /// Returns the current snapshots, those of private repositories only if `with_private` is true.
    Snapshots snapshots(bool with_private);

private:
    forge::ForgeStore store_;
    std::mutex mutex_;
    std::map<std::string, std::shared_ptr<const forge::Snapshot>> loaded_;  ///< by repository
};

}  // namespace bunraku::console
