// SPDX-License-Identifier: Apache-2.0
// An HTTP client for PuppetDB-compatible stores, forges and puppetserver.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "core/base/result.h"
#include "net/http/message.h"
#include "net/http/proxy.h"

namespace bunraku::http {

class Network;

/// Error::code if the server's certificate was refused. After "METHOD URL: ", the message is
/// Puppet's.
inline constexpr int kRefusedCertificate = -2;

struct ClientOptions {
    Network* network = nullptr;       ///< null means sockets()
    std::string ca_file;              ///< if empty, the system's store is used
    bool system_authorities = false;  ///< trusts the system's store in addition to `ca_file`
    std::string trust_store;          ///< additional authorities: a PEM file, or a folder of them
    ProxyRules proxies;               ///< by default, no proxy
    std::string certificate_file;     ///< the client certificate; may be empty
    std::string private_key_file;
    bool verify = true;
    std::string crl_file;  ///< if empty, revocation is not checked
    bool crl_leaf_only = false;
    std::chrono::milliseconds connect_timeout{10000};
    std::chrono::milliseconds timeout{60000};  ///< maximum time without progress in an exchange
    /// Called a few times a second while waiting. If it returns true, the exchange ends with code
    /// ECANCELED.
    std::function<bool()> stopped;
    std::uint64_t max_body = 256 << 20;
    int max_redirects = 5;
    std::string user_agent = "Bunraku";
    /// Sent with every request to the host of the first URL, and to no other host.
    std::string authorization;
};

struct ClientRequest {
    std::string method = "GET";
    std::string url;  ///< "https://host:port/path?query"; user info becomes basic credentials
    Headers headers;
    std::string body;
    /// Receives the head of each response of download() before its body.
    std::function<void(int status, const Headers&)> head = {};
};

struct ClientResponse {
    int status = 0;
    Headers headers;
    std::string body;  ///< decoded (gzip)
    std::string url;   ///< after redirects
};

/// Returns the start of the messages of a failed exchange: "GET https://host:port/path: ". It omits
/// the query, which may be long and may contain secrets.
std::string error_prefix(std::string_view method, std::string_view url);

/// Reuses connections between calls. Must be used by one thread at a time.
class Client {
public:
    explicit Client(ClientOptions options = {});
    ~Client();
    Client(Client&&) noexcept;
    Client& operator=(Client&&) noexcept;

    /// Sends a request. Fails if no complete response arrives; the message contains the URL.
    base::Result<ClientResponse> send(const ClientRequest& request);
    base::Result<ClientResponse> get(const std::string& url);
    /// Passes the body to `sink` piece by piece without decoding it. The body of the returned
    /// response is empty. The sink returns false to stop.
    base::Result<ClientResponse> download(const ClientRequest& request,
                                          const std::function<bool(std::string_view)>& sink);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace bunraku::http
