// SPDX-License-Identifier: Apache-2.0
// A running server: its roles and their common HTTP server.
#pragma once

#include <chrono>
#include <memory>
#include <string>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/result.h"
#include "core/config/settings.h"
#include "net/http/server.h"

namespace bunraku::server {

struct InstanceOptions {
    std::vector<std::string> roles;  ///< all roles if empty
    std::vector<http::Listener> listeners;
    std::string database;
    std::string version;
    bool http_anywhere = false;        ///< allow plain HTTP on non-loopback addresses
    http::Network* network = nullptr;  ///< if null, sockets and threads are used
};

/// Parses "127.0.0.1:8080", "8080", "[::1]:8080" or ":8080". If the host is missing, it is
/// `default_host`.
base::Result<http::Listener> parse_listener(std::string_view text, bool tls,
                                            const std::string& default_host);

class Instance {
public:
    /// Starts a server and returns when it is listening. `settings` and `log` must outlive it.
    static base::Result<std::unique_ptr<Instance>> start(const config::Settings& settings,
                                                         base::LogSink& log,
                                                         InstanceOptions options);
    ~Instance();
    std::vector<std::string> urls() const;
    /// Reloads certificates, revocation lists and the allow list. If one cannot be read, the old
    /// one stays in use and the error is returned.
    base::Result<void> reload();
    /// Stops the server after answering the requests in progress.
    void stop(std::chrono::seconds timeout = std::chrono::seconds(10));

private:
    struct Impl;
    explicit Instance(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace bunraku::server
