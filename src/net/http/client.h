// A client for servers of the Puppet world: PuppetDB-compatible stores, forges, puppetserver.
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

/// Error::code where the other side's certificate was refused; behind "METHOD URL: " the message is
/// Puppet's.
inline constexpr int kRefusedCertificate = -2;

struct ClientOptions {
    Network* network = nullptr;       ///< null: sockets()
    std::string ca_file;              ///< empty: the system's store
    bool system_authorities = false;  ///< the system's store beside `ca_file`
    std::string trust_store;          ///< further authorities: a PEM file, or a folder of them
    ProxyRules proxies;               ///< nothing said: never one
    std::string certificate_file;     ///< the client's own; empty: none
    std::string private_key_file;
    bool verify = true;
    std::string crl_file;  ///< empty: revocation is not checked
    bool crl_leaf_only = false;
    std::chrono::milliseconds connect_timeout{10000};
    std::chrono::milliseconds timeout{60000};  ///< of one whole exchange without progress
    /// Asked while waiting, a few times a second: true ends the exchange with code ECANCELED.
    std::function<bool()> stopped;
    std::uint64_t max_body = 256 << 20;
    int max_redirects = 5;
    std::string user_agent = "Bunraku";
    /// Sent with every request to the host of the first URL, never to another.
    std::string authorization;
};

struct ClientRequest {
    std::string method = "GET";
    std::string url;  ///< "https://host:port/path?query"; user info becomes basic credentials
    Headers headers;
    std::string body;
    /// Told the head of each answer of download() before its body comes.
    std::function<void(int status, const Headers&)> head = {};
};

struct ClientResponse {
    int status = 0;
    Headers headers;
    std::string body;  ///< decoded (gzip)
    std::string url;   ///< after redirects
};

/// Keeps connections open between calls. Used by one thread at a time.
class Client {
public:
    explicit Client(ClientOptions options = {});
    ~Client();
    Client(Client&&) noexcept;
    Client& operator=(Client&&) noexcept;

    /// Fails where no whole answer came: the message names the URL.
    base::Result<ClientResponse> send(const ClientRequest& request);
    base::Result<ClientResponse> get(const std::string& url);
    /// The body goes to `sink` piece by piece as it comes (never decoded); the response's body is
    /// empty. The sink gives false to stop.
    base::Result<ClientResponse> download(const ClientRequest& request,
                                          const std::function<bool(std::string_view)>& sink);

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

}  // namespace bunraku::http
