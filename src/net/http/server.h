// SPDX-License-Identifier: Apache-2.0
// The server: listens, reads requests within limits, calls the router, and writes responses.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "net/http/router.h"

namespace bunraku::http {

class Network;

/// PEM files with the server's certificates. A certificate from a client must be valid. Each route
/// decides whether it requires one.
struct TlsFiles {
    std::string certificate;
    std::string private_key;
    std::string ca;   ///< authorities for clients' certificates
    std::string crl;  ///< if empty, revocation is not checked
    /// checks the revocation of clients' certificates only, not of their authorities
    bool crl_leaf_only = false;
    /// A certificate with another type of key, for clients that accept it. May be empty.
    std::string second_certificate = {}, second_private_key = {};
};

struct Listener {
    std::string host = "127.0.0.1";
    std::uint16_t port = 0;  ///< 0 means that the system chooses
    bool tls = false;
    /// A Unix socket with plain HTTP, instead of host and port. A failure is logged, and the server
    /// starts without it.
    std::string path = {};
};

struct ServerOptions {
    std::vector<Listener> listeners;
    Network* network = nullptr;  ///< null means sockets() and threads
    TlsFiles tls;
    int io_threads = 1;
    int worker_threads = 0;                    ///< 0 means one per core
    std::chrono::seconds idle_timeout{60};     ///< for an idle persistent connection
    std::chrono::seconds request_timeout{60};  ///< from the first to the last byte of a request
    std::uint32_t max_header_bytes = 64 << 10;
    std::uint32_t max_connections = 10000;
    /// Maximum number of requests that wait for a worker. Further requests get 503.
    std::uint32_t max_queue = 4096;
    /// Maximum size of all request bodies in memory. Further requests get 503.
    std::uint64_t max_buffered = 1 << 30;
    /// Called once for each completed request: status, bytes, microseconds.
    std::function<void(const Request&, int status, std::uint64_t bytes, std::int64_t microseconds)>
        access_log;
    /// Receives internal errors: exceptions of handlers, failed accepts.
    std::function<void(const std::string&)> error_log;
    /// Receives clients' failed TLS handshakes and their reasons.
    std::function<void(const std::string&)> refusal_log;
};

class Server {
public:
    /// Starts to listen. Fails with the address in the message.
    static base::Result<std::unique_ptr<Server>> start(Router router, ServerOptions options);
    ~Server();

    /// Returns the bound addresses, such as "http://127.0.0.1:8080", in the order of the listeners.
    /// Unix sockets have no URL.
    std::vector<std::string> urls() const;
    struct Load {
        std::uint64_t requests = 0;  ///< completed since the start
        std::uint32_t connections = 0, queued = 0;
    };
    Load load() const;
    /// Reads certificates, authorities and revocation lists again. Open connections continue to use
    /// the old server certificate, but their clients' certificates are verified again before the
    /// next request.
    base::Result<void> reload_tls(const TlsFiles& files);
    /// Accepts no new connections, completes running requests (for at most `timeout`), then ends
    /// all threads.
    void stop(std::chrono::seconds timeout = std::chrono::seconds(5));

private:
    struct Impl;
    explicit Server(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace bunraku::http
