// Which proxy a client's request goes through: what the environment says (http_proxy, https_proxy,
// no_proxy), else what the settings say, as Puppet's agent does (lib/puppet/http/proxy.rb).
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
    std::string user;  ///< "user:password"; empty: none

    /// The value of Proxy-Authorization; empty: none.
    std::string authorization() const;
};

/// What the settings http_proxy_* and no_proxy say, "none" being nothing.
struct ProxySettings {
    std::string host, port, user, password, none;
};

class ProxyRules {
public:
    using Environment = std::function<const char*(const char*)>;

    ProxyRules() = default;  ///< never one
    ProxyRules(const ProxySettings& settings, const Environment& environment);

    /// The one for `url`; null: straight.
    const Proxy* of(const Url& url) const;
    /// All through `url` ("http://user:password@host:port"), except what no_proxy names.
    void force(std::string_view url);
    /// Those of the settings; `S` is config::Settings, which stands above this folder's reach.
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
