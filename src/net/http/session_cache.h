// SPDX-License-Identifier: Apache-2.0
// A TLS session that outlives its process, so that the agent's next run can resume it
// (docs/design/0282). Internal to this folder.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "net/http/client.h"
#include "net/http/url.h"

struct ssl_session_st;

namespace bunraku::http {

struct FreeSession {
    void operator()(ssl_session_st* session) const;
};
using Session = std::unique_ptr<ssl_session_st, FreeSession>;

/// The session in a file. It is bound to one server and to the current trust settings.
class SessionCache {
public:
    /// Stores nothing if `path` is empty or if servers are not verified.
    SessionCache(std::string path, const ClientOptions& options, const Url& url,
                 std::int64_t now_ns);

    /// Returns the stored session for this server, or null if there is none to resume. Authorities,
    /// revocation lists and the client certificate must be unchanged, and the server's certificate
    /// must have been verified within the last day.
    Session load();
    /// Stores a session. `resumed` is true if it continues the loaded one. Errors are ignored.
    void save(ssl_session_st* session, bool resumed) const;

private:
    std::string path_, owner_;
    std::int64_t now_ns_;
    std::int64_t verified_ns_;  ///< time of the last verification of the server's certificate
};

}  // namespace bunraku::http
