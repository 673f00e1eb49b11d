// The server: listens, reads requests within limits, asks the router, writes answers.
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

/// Where the certificates are; PEM files. Clients that show a certificate must show a good one;
/// whether they must show one is the routes' matter.
struct TlsFiles {
    std::string certificate;
    std::string private_key;
    std::string ca;              ///< whom clients' certificates must be signed by
    std::string crl;             ///< empty: revocation is not checked
    bool crl_leaf_only = false;  ///< of the clients' certificates only, not of the authorities'
    /// A certificate with another kind of key, for clients that accept it. May be empty.
    std::string second_certificate = {}, second_private_key = {};
};

struct Listener {
    std::string host = "127.0.0.1";
    std::uint16_t port = 0;  ///< 0: the system chooses
    bool tls = false;
    /// A Unix socket, in plain HTTP, in place of host and port. A failure is logged, and the server
    /// starts without it.
    std::string path = {};
};

struct ServerOptions {
    std::vector<Listener> listeners;
    Network* network = nullptr;  ///< null: sockets() and threads
    TlsFiles tls;
    int io_threads = 1;
    int worker_threads = 0;                    ///< 0: one a core
    std::chrono::seconds idle_timeout{60};     ///< a kept connection without a request
    std::chrono::seconds request_timeout{60};  ///< from the first byte to the last of a request
    std::uint32_t max_header_bytes = 64 << 10;
    std::uint32_t max_connections = 10000;
    /// Requests that wait for a worker; more are answered with 503.
    std::uint32_t max_queue = 4096;
    /// Of all request bodies together that are in memory; more are answered with 503.
    std::uint64_t max_buffered = 1 << 30;
    /// One call an answered request: status, bytes, microseconds.
    std::function<void(const Request&, int status, std::uint64_t bytes, std::int64_t microseconds)>
        access_log;
    /// What went wrong inside: handlers that throw, failing accepts.
    std::function<void(const std::string&)> error_log;
    /// Clients whose TLS handshake failed, and why.
    std::function<void(const std::string&)> refusal_log;
};

class Server {
public:
    /// Listens; fails with the address in the message.
    static base::Result<std::unique_ptr<Server>> start(Router router, ServerOptions options);
    ~Server();

    /// As bound: "http://127.0.0.1:8080", in the order of the listeners. Unix sockets have none.
    std::vector<std::string> urls() const;
    struct Load {
        std::uint64_t requests = 0;  ///< answered since the start
        std::uint32_t connections = 0, queued = 0;
    };
    Load load() const;
    /// Certificates, authorities and revocations are read anew. Running connections keep the
    /// server's certificate; their clients' are verified again before the next request.
    base::Result<void> reload_tls(const TlsFiles& files);
    /// No new connections; running requests are answered (up to `patience`); then all threads end.
    void stop(std::chrono::seconds timeout = std::chrono::seconds(5));

private:
    struct Impl;
    explicit Server(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace bunraku::http
