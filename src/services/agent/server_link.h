// The server of a run: one connection for all that is asked of it under /puppet/v3.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/base/diagnostic.h"
#include "core/base/result.h"
#include "core/config/settings.h"
#include "net/http/client.h"
#include "services/agent/ssl.h"

namespace bunraku::agent {

using Query = std::vector<std::pair<std::string, std::string>>;

/// Used by one thread at a time.
class ServerLink {
public:
    /// `files` may name none: then the server is not asked for a certificate's sake.
    ServerLink(const config::Settings& settings, const SslFiles& files, std::string user_agent,
               std::function<bool()> stopped, http::Network* network = nullptr);
    ~ServerLink();

    /// The first of server_list that answers; the setting `server` where there is no list. False:
    /// none does, and why is logged.
    bool choose(base::LogSink& log);
    /// "HOST:PORT".
    const std::string& address() const { return address_; }
    bool chosen_from_list() const { return from_list_; }

    /// The environment that every request names.
    std::string environment;

    /// An address below /puppet/v3; `path` is not encoded yet. Another server where `address` says
    /// so.
    std::string url(std::string_view path, const Query& query = {},
                    std::string_view address = {}) const;
    /// Errors are those of the connection; what the server refuses is an answer.
    base::Result<http::ClientResponse> get(std::string_view path, const Query& query,
                                           std::string_view accept);
    base::Result<http::ClientResponse> send(http::ClientRequest request);
    http::ClientRequest request(std::string method, std::string url, std::string_view accept) const;
    http::Client& client() { return client_; }

private:
    const config::Settings& settings_;
    std::unique_ptr<http::Network> sockets_;  ///< in use where no network was given
    http::Client client_;
    std::string address_;
    bool from_list_ = false;
};

/// A query for an URL.
std::string encoded(const Query& query);

}  // namespace bunraku::agent
