// SPDX-License-Identifier: Apache-2.0
#include "services/agent/lazy_bucket.h"

#include "services/agent/open_link.h"

namespace bunraku::agent {

using base::Result;

Result<ServerBucket*> LazyBucket::bucket() {
    if (bucket_) return &*bucket_;
    if (failure_) return std::unexpected(*failure_);
    auto link = open_link(settings_, log_, system_, user_agent_);
    if (!link) {
        failure_ = link.error();
        return std::unexpected(*failure_);
    }
    link_ = std::move(*link);
    return &bucket_.emplace(*link_, settings_);
}

Result<bool> LazyBucket::has(const Key& key) { return BUNRAKU_TRY(bucket())->has(key); }

Result<void> LazyBucket::save(const Key& key, const std::string& path, const std::string& content) {
    return BUNRAKU_TRY(bucket())->save(key, path, content);
}

Result<std::optional<std::string>> LazyBucket::content(const Key& key) {
    return BUNRAKU_TRY(bucket())->content(key);
}

}  // namespace bunraku::agent
