// A running server: its roles behind one HTTP server.
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
    std::vector<std::string> roles;  ///< empty: all there are
    std::vector<http::Listener> listeners;
    std::string database;
    std::string version;
    bool http_anywhere = false;        ///< plain HTTP on other than loopback addresses
    http::Network* network = nullptr;  ///< null: sockets and threads
};

/// "127.0.0.1:8080", "8080", "[::1]:8080", ":8080"; the host is `default_host` where it is missing.
base::Result<http::Listener> parse_listener(std::string_view text, bool tls,
                                            const std::string& default_host);

class Instance {
public:
    /// Listens and is ready when it comes back. `settings` and `log` must outlive it.
    static base::Result<std::unique_ptr<Instance>> start(const config::Settings& settings,
                                                         base::LogSink& log,
                                                         InstanceOptions options);
    ~Instance();
    std::vector<std::string> urls() const;
    /// Certificates, revocation lists and the allow list are read anew; what cannot be read leaves
    /// the old in use and is the error.
    base::Result<void> reload();
    /// Requests under way are answered.
    void stop(std::chrono::seconds timeout = std::chrono::seconds(10));

private:
    struct Impl;
    explicit Instance(std::unique_ptr<Impl> impl);
    std::unique_ptr<Impl> impl_;
};

}  // namespace bunraku::server
