// SPDX-License-Identifier: Apache-2.0
#include "services/server/plugin_lists.h"

#include "core/base/assert.h"
#include "net/http/message.h"

namespace bunraku::server {

namespace {

/// Agents of one version send the same request. The limit prevents a client with varying requests
/// from filling the memory.
constexpr std::size_t kMostLists = 64;

}  // namespace

std::shared_ptr<const PluginLists::List> PluginLists::get(
    const std::shared_ptr<const environment::Environment>& environment, const std::string& key,
    const std::function<std::string()>& make) {
    const auto& files = environment->files();
    const auto moment = files.moment();
    std::pair place(files.place(environment->directory()), key);
    if (moment) {
        const std::lock_guard lock(mutex_);
        const auto it = kept_.find(place);
        if (it != kept_.end() && it->second.moment == *moment &&
            it->second.environment == environment)
            return it->second.list;
    }
    auto list = std::make_shared<List>();
    list->json = make();
    if (!moment) return list;
    list->packed = http::gzip(list->json);
    const std::lock_guard lock(mutex_);
    if (kept_.size() >= kMostLists) kept_.clear();
    BUNRAKU_ASSERT(kept_.size() < kMostLists);
    kept_[std::move(place)] = {environment, *moment, list};
    return list;
}

}  // namespace bunraku::server
