// SPDX-License-Identifier: Apache-2.0
// Access of `ca` to the authority, either over its API or in its folder if no server is running.
// For use inside this folder only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/config/settings.h"

namespace bunraku::server {

struct CaAnswer {
    int status = 0;
    std::string body;
};

/// Access to an authority. The answers are those of /puppet-ca/v1 in both cases. An error means
/// that the authority did not answer.
class CaClient {
public:
    virtual ~CaClient() = default;
    /// Returns the JSON of /certificate_statuses. An empty `state` selects all.
    virtual base::Result<CaAnswer> statuses(const std::string& state) = 0;
    virtual base::Result<CaAnswer> sign(const std::string& name,
                                        std::optional<std::int64_t> ttl) = 0;
    virtual base::Result<CaAnswer> revoke(const std::string& name) = 0;
    virtual base::Result<CaAnswer> remove(const std::string& name) = 0;
    virtual base::Result<CaAnswer> submit(const std::string& name, const std::string& pem) = 0;
    virtual base::Result<CaAnswer> certificate(const std::string& name) = 0;
};

/// Returns a client for the server, or for the folder on this machine if the server does not accept
/// connections. Errors are those of puppetserver-ca.
base::Result<std::unique_ptr<CaClient>> open_ca_client(const config::Settings& settings);

enum class CaServer : std::uint8_t { Away, Ours, Foreign };
/// Reports which server uses the authority in the settings. A Bunraku server on this machine shares
/// the folder's lock. Any other server must be stopped before files are changed.
base::Result<CaServer> ca_server_running(const config::Settings& settings);

/// Returns the current time for use in certificates.
std::int64_t ca_now();

}  // namespace bunraku::server
