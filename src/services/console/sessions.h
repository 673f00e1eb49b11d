// SPDX-License-Identifier: Apache-2.0
// The sessions of the console, and the one-time link for the machine's own users. Both are in
// memory only: a restart of the server ends all sessions.
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "core/base/result.h"
#include "services/console/viewer.h"

namespace bunraku::console {

struct Session {
    Viewer viewer;
    std::string token_digest;  ///< of the token that started the session; may be empty
    std::string csrf;          ///< what forms of this session must contain
    std::int64_t created_s = 0, used_s = 0;
};

/// Whether a request counts as use of its session. Requests that an open page makes by itself do
/// not, so that a forgotten page does not prolong the session.
enum class SessionUse : std::uint8_t { Record, Check };

/// Thread-safe. Times are seconds since the epoch.
class Sessions {
public:
    /// A session ends after this time without a request, and at the latest after kLongest.
    static constexpr std::int64_t kIdle = 8 * 3600, kLongest = 24 * 3600;
    /// If there are more, the one that was unused for the longest time ends.
    static constexpr std::size_t kMost = 10'000, kMostOfViewer = 50;

    /// Starts a session with a new random id, and returns the id.
    base::Result<std::string> start(Viewer viewer, std::string token_digest, std::int64_t now_s);
    /// Returns the session, or nullopt if it does not exist or has ended.
    std::optional<Session> find(std::string_view id, std::int64_t now_s,
                                SessionUse use = SessionUse::Record);
    void end(std::string_view id);
    std::size_t size() const;

    /// How long a link is valid, in seconds.
    static constexpr std::int64_t kLinkLives = 15 * 60;
    /// Makes a link's secret, which redeem() accepts once, until it expires. An earlier secret
    /// becomes invalid.
    base::Result<std::string> make_link(std::int64_t now_s);
    bool redeem(std::string_view secret, std::int64_t now_s);

private:
    mutable std::mutex mutex_;
    /// By the SHA-256 of the id, so that a comparison reveals nothing about the id.
    std::map<std::string, Session, std::less<>> sessions_;
    std::string link_;  ///< SHA-256 of the secret; empty if there is none
    std::int64_t link_until_ = 0;
};

}  // namespace bunraku::console
