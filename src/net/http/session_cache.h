// A TLS session that outlives its process: the next run of an agent goes on with it
// (docs/design/0282). Inside this folder only.
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

/// The one session of a file, which belongs to one server and to what is trusted now.
class SessionCache {
public:
    /// Without a path, or where nobody is verified, nothing is kept.
    SessionCache(std::string path, const ClientOptions& options, const Url& url,
                 std::int64_t now_ns);

    /// What the file has for this server; null: nothing that may be gone on with. Whoever holds
    /// other authorities, lists of revocations or an own certificate than when it was begun, or
    /// looked at the server's certificate a day ago, looks again.
    Session load();
    /// `resumed`: it goes back to the one that was loaded. What cannot be written is not kept.
    void save(ssl_session_st* session, bool resumed) const;

private:
    std::string path_, owner_;
    std::int64_t now_ns_;
    std::int64_t verified_ns_;  ///< when the server's certificate was last looked at
};

}  // namespace bunraku::http
