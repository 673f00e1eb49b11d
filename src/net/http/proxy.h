// SPDX-License-Identifier: Apache-2.0
// Selects the proxy for a client's request, like Puppet's agent (lib/puppet/http/proxy.rb): from
// the environment (http_proxy, https_proxy, no_proxy), otherwise from the settings.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "net/http/url.h"

namespace bunraku::http {

struct Proxy {
    std::string host;
    std::uint16_t port = 3128;
    std::string user;  ///< "user:password"; may be empty

    /// Returns the value of Proxy-Authorization; may be empty.
    std::string authorization() const;
};

/// The settings http_proxy_* and no_proxy; "none" is the same as no value.
struct ProxySettings {
    std::string host, port, user, password, none;
};

class ProxyRules {
public:
    using Environment = std::function<const char*(const char*)>;

    ProxyRules() = default;  ///< Uses no proxy.
    ProxyRules(const ProxySettings& settings, const Environment& environment);

    /// Returns the proxy for `url`, or null for a direct connection.
    const Proxy* of(const Url& url) const;
    /// Uses the proxy `url` ("http://user:password@host:port") for all requests, except those that
    /// no_proxy excludes.
    void force(std::string_view url);
    /// Reads the rules from the settings. `S` is config::Settings; the template avoids a dependency
    /// on its header.
    template <class S>
    static ProxyRules of_settings(const S& settings) {
        return {{settings.text("http_proxy_host"), settings.text("http_proxy_port"),
                 settings.text("http_proxy_user"), settings.text("http_proxy_password"),
                 settings.text("no_proxy")},
                process_environment};
    }

private:
    static const char* process_environment(const char* name);
    std::optional<Proxy> plain_, tls_;
    std::string none_;
};

}  // namespace bunraku::http
