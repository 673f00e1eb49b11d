// How `ca` reaches the authority: over its API, or in its folder where no server answers. Inside
// this folder only.
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

/// Answers as /puppet-ca/v1 has them, whichever way they came. An error: there is none.
class CaClient {
public:
    virtual ~CaClient() = default;
    /// The JSON of /certificate_statuses; `state` empty: all.
    virtual base::Result<CaAnswer> statuses(const std::string& state) = 0;
    virtual base::Result<CaAnswer> sign(const std::string& name,
                                        std::optional<std::int64_t> ttl) = 0;
    virtual base::Result<CaAnswer> revoke(const std::string& name) = 0;
    virtual base::Result<CaAnswer> remove(const std::string& name) = 0;
    virtual base::Result<CaAnswer> submit(const std::string& name, const std::string& pem) = 0;
    virtual base::Result<CaAnswer> certificate(const std::string& name) = 0;
};

/// The server's, or the folder of this machine where the server takes no connection. The errors are
/// puppetserver-ca's.
base::Result<std::unique_ptr<CaClient>> open_ca_client(const config::Settings& settings);

enum class CaServer : std::uint8_t { Away, Ours, Foreign };
/// Which server uses the authority of these settings: one of Bunraku on this machine shares the
/// folder's lock, another must not be running while files change.
base::Result<CaServer> ca_server_running(const config::Settings& settings);

/// The time, for authorities.
std::int64_t ca_now();

}  // namespace bunraku::server
