// SPDX-License-Identifier: Apache-2.0
#include "services/console/sessions.h"

#include <algorithm>

#include "core/base/assert.h"
#include "core/codec/digest.h"
#include "core/codec/random.h"

namespace bunraku::console {

using base::Result;

namespace {

std::string session_key(std::string_view id) {
    return codec::hex_digest(codec::DigestKind::Sha256, id);
}

bool has_ended(const Session& session, std::int64_t now_s) {
    return now_s - session.used_s >= Sessions::kIdle ||
           now_s - session.created_s >= Sessions::kLongest;
}

}  // namespace

Result<std::string> Sessions::start(Viewer viewer, std::string token_digest, std::int64_t now_s) {
    const auto id = BUNRAKU_TRY(codec::random_hex(32));
    Session session{std::move(viewer), std::move(token_digest), BUNRAKU_TRY(codec::random_hex(32)),
                    now_s, now_s};
    const std::lock_guard lock(mutex_);
    std::erase_if(sessions_, [&](const auto& entry) { return has_ended(entry.second, now_s); });
    // A viewer with too many sessions loses the oldest of them. Other viewers keep theirs.
    std::size_t own = 0;
    auto oldest = sessions_.end();
    for (auto it = sessions_.begin(); it != sessions_.end(); ++it) {
        const auto& other = it->second.viewer;
        if (other.name != session.viewer.name || other.via != session.viewer.via) continue;
        ++own;
        if (oldest == sessions_.end() || it->second.used_s < oldest->second.used_s) oldest = it;
    }
    if (own >= kMostOfViewer) sessions_.erase(oldest);
    if (sessions_.size() >= kMost) {
        sessions_.erase(std::ranges::min_element(
            sessions_, {}, [](const auto& entry) { return entry.second.used_s; }));
    }
    sessions_.emplace(session_key(id), std::move(session));
    BUNRAKU_ASSERT(sessions_.size() <= kMost);
    return id;
}

std::optional<Session> Sessions::find(std::string_view id, std::int64_t now_s, SessionUse use) {
    if (id.empty()) return std::nullopt;
    const auto key = session_key(id);
    const std::lock_guard lock(mutex_);
    const auto it = sessions_.find(key);
    if (it == sessions_.end()) return std::nullopt;
    if (has_ended(it->second, now_s)) {
        sessions_.erase(it);
        return std::nullopt;
    }
    if (use == SessionUse::Record) it->second.used_s = now_s;
    return it->second;
}

void Sessions::end(std::string_view id) {
    const auto key = session_key(id);
    const std::lock_guard lock(mutex_);
    sessions_.erase(key);
}

std::size_t Sessions::size() const {
    const std::lock_guard lock(mutex_);
    return sessions_.size();
}

Result<std::string> Sessions::make_link(std::int64_t now_s) {
    auto secret = BUNRAKU_TRY(codec::random_hex(32));
    const std::lock_guard lock(mutex_);
    link_ = session_key(secret);
    link_until_ = now_s + kLinkLives;
    return secret;
}

bool Sessions::redeem(std::string_view secret, std::int64_t now_s) {
    const auto key = session_key(secret);
    const std::lock_guard lock(mutex_);
    if (link_.empty() || now_s >= link_until_ || key != link_) return false;
    link_.clear();
    return true;
}

}  // namespace bunraku::console
