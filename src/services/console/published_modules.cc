// SPDX-License-Identifier: Apache-2.0
#include "services/console/published_modules.h"

namespace bunraku::console {

PublishedModules::Snapshots PublishedModules::snapshots(bool with_private) {
    Snapshots out;
    const std::lock_guard lock(mutex_);
    std::map<std::string, std::shared_ptr<const forge::Snapshot>> now;
    for (const auto& repository : store_.repositories()) {
        const auto name = store_.published(repository);
        if (name.empty()) continue;
        auto& snapshot = now[repository];
        if (const auto it = loaded_.find(repository);
            it != loaded_.end() && it->second && it->second->name() == name) {
            snapshot = it->second;
        } else if (auto loaded = forge::Snapshot::load(store_, name)) {
            snapshot = std::move(*loaded);
        }
        if (snapshot && (with_private || !store_.config(repository).closed))
            out.push_back(snapshot);
    }
    loaded_ = std::move(now);
    return out;
}

}  // namespace bunraku::console
