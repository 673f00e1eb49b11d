// SPDX-License-Identifier: Apache-2.0
#include "net/http/proxy.h"

#include <cstdlib>

#include "core/base/number.h"
#include "core/base/text.h"
#include "core/codec/base64.h"

namespace bunraku::http {

namespace {

const char* either(const ProxyRules::Environment& environment, const char* lower,
                   const char* upper) {
    const char* value = environment(lower);
    return value ? value : environment(upper);
}

/// Parses a proxy address from the environment. Without a scheme it is a host and a port.
std::optional<Proxy> proxy_at(std::string_view text) {
    if (text.empty()) return std::nullopt;
    const std::string whole = text.find("://") == std::string_view::npos
                                  ? "http://" + std::string(text)
                                  : std::string(text);
    auto url = parse_url(whole);
    if (!url) return std::nullopt;
    return Proxy{url->host, url->port, url->user};
}

std::string unless_none(const std::string& text) { return text == "none" ? std::string() : text; }

/// Matches the end of `text`; "*" matches any characters.
bool fits_end(std::string_view pattern, std::string_view text) {
    while (true) {
        const std::size_t star = pattern.rfind('*');
        if (star == std::string_view::npos) return text.ends_with(pattern);
        const std::string_view tail = pattern.substr(star + 1);
        if (!text.ends_with(tail)) return false;
        text.remove_suffix(tail.size());
        pattern = pattern.substr(0, star);
        if (pattern.empty()) return true;
        // The text before the star must occur somewhere. Its last occurrence leaves the longest
        // text for the rest of the pattern.
        const std::size_t before = pattern.rfind('*');
        const std::string_view piece =
            before == std::string_view::npos ? pattern : pattern.substr(before + 1);
        const std::size_t at = text.rfind(piece);
        if (at == std::string_view::npos) return false;
        if (before == std::string_view::npos) return true;
        text = text.substr(0, at + piece.size());
    }
}

}  // namespace

std::string Proxy::authorization() const {
    return user.empty() ? std::string() : "Basic " + codec::base64_encode(user);
}

ProxyRules::ProxyRules(const ProxySettings& settings, const Environment& environment) {
    std::optional<Proxy> set;
    if (const std::string host = unless_none(settings.host); !host.empty()) {
        set = Proxy{host, base::parse_integer<std::uint16_t>(settings.port).value_or(3128), {}};
        if (const std::string user = unless_none(settings.user); !user.empty()) {
            set->user = user + ":" + unless_none(settings.password);
        }
    }
    const char* plain = either(environment, "http_proxy", "HTTP_PROXY");
    const char* tls = either(environment, "https_proxy", "HTTPS_PROXY");
    plain_ = set;
    if (plain) {
        // Like Puppet, takes the address from the environment and missing parts from the settings.
        if (auto found = proxy_at(plain)) {
            if (found->user.empty() && set) found->user = set->user;
            plain_ = std::move(found);
        }
    }
    tls_ = plain_;
    if (tls) {
        if (auto found = proxy_at(tls)) tls_ = std::move(found);
    }
    const char* none = either(environment, "no_proxy", "NO_PROXY");
    none_ = none ? std::string(none) : unless_none(settings.none);
}

void ProxyRules::force(std::string_view url) {
    if (auto found = proxy_at(url)) plain_ = tls_ = std::move(found);
}

const Proxy* ProxyRules::of(const Url& url) const {
    const std::optional<Proxy>& proxy = url.tls ? tls_ : plain_;
    if (!proxy) return nullptr;
    const std::string host = base::lower(url.host);
    std::string_view rest = none_;
    while (!rest.empty()) {
        const std::size_t comma = rest.find(',');
        std::string entry = base::lower(rest.substr(0, comma));
        rest = comma == std::string_view::npos ? std::string_view{} : rest.substr(comma + 1);
        std::erase_if(entry, [](char c) { return c == ' ' || c == '\t'; });
        if (entry.empty()) continue;
        // Colons belong to an IPv6 address, unless it is in brackets.
        const std::size_t colon = entry.rfind(':');
        const bool has_port =
            colon != std::string::npos && (entry.find(':') == colon || entry[colon - 1] == ']');
        std::string name = entry.substr(0, has_port ? colon : std::string::npos);
        if (name.starts_with('[') && name.ends_with(']')) name = name.substr(1, name.size() - 2);
        if (has_port && entry.substr(colon + 1) != std::to_string(url.port)) continue;
        if (fits_end(name, host)) return nullptr;
    }
    return &*proxy;
}

const char* ProxyRules::process_environment(const char* name) { return std::getenv(name); }

}  // namespace bunraku::http
