// SPDX-License-Identifier: Apache-2.0
// Static contents of the other compile servers of a site (docs/design/0105).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/result.h"
#include "core/config/settings.h"
#include "net/http/message.h"

namespace bunraku::server {

/// The setting static-content-peers: URLs of servers that may have made the catalog of an agent
/// which asks this server for a content. Thread-safe.
class ContentPeers {
public:
    /// Returns the URLs of the setting without trailing slashes. Fails if one of them is no https
    /// URL.
    static base::Result<std::vector<std::string>> urls_of(const config::Settings& settings);

    /// `settings` and `log` must outlive the object. Invalid URLs are ignored; see urls_of().
    ContentPeers(const config::Settings& settings, base::LogSink& log);

    bool configured() const { return !urls_.empty(); }
    /// Asks one peer after the other for the content of `path`, the key of an agent's request for a
    /// static content. Returns the bytes if their SHA-256 is `digest`, and nullopt if no peer has
    /// them. Does not ask if `request` comes from a peer, so that two servers never ask each other.
    std::optional<std::string> fetch(const http::Request& request, std::string_view path,
                                     std::string_view digest) const;

private:
    const config::Settings& settings_;
    base::LogSink& log_;
    std::vector<std::string> urls_;
};

}  // namespace bunraku::server
