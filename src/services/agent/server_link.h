// SPDX-License-Identifier: Apache-2.0
// The server of a run: one connection for all requests under /puppet/v3.
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
    /// `files` may be empty. The connection then does not use a certificate.
    ServerLink(const config::Settings& settings, const SslFiles& files, std::string user_agent,
               std::function<bool()> stopped, http::Network* network = nullptr);
    ~ServerLink();

    /// Chooses the first server in server_list that answers, or the setting `server` if the list is
    /// empty. If no server answers, logs the reasons and returns false.
    bool choose(base::LogSink& log);
    /// Returns "HOST:PORT".
    const std::string& address() const { return address_; }
    bool chosen_from_list() const { return from_list_; }

    /// The environment in every request.
    std::string environment;
    /// The transaction of the run, sent with every request, so that the server answers all of them
    /// from one version of the environment. Empty if the requests belong to no run.
    std::string run;

    /// Returns a URL below /puppet/v3. `path` is not yet encoded. If `address` is not empty, it
    /// selects another server.
    std::string url(std::string_view path, const Query& query = {},
                    std::string_view address = {}) const;
    /// Sends a request. Errors are those of the connection; a refusal by the server is a normal
    /// response.
    base::Result<http::ClientResponse> get(std::string_view path, const Query& query,
                                           std::string_view accept);
    base::Result<http::ClientResponse> send(http::ClientRequest request);
    http::ClientRequest request(std::string method, std::string url, std::string_view accept) const;
    http::Client& client() { return client_; }

private:
    const config::Settings& settings_;
    std::unique_ptr<http::Network> sockets_;  ///< used if no network was passed
    http::Client client_;
    std::string address_;
    bool from_list_ = false;
};

/// Encodes a query for a URL.
std::string encoded(const Query& query);

}  // namespace bunraku::agent
