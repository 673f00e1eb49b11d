// "https://user:password@host:port/path?query" in its parts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace bunraku::http {

struct Url {
    bool tls = false;
    std::string host;  ///< without the brackets of IPv6
    std::uint16_t port = 0;
    std::string target;  ///< path and query, at least "/"
    std::string user;    ///< decoded "user:password"; empty: none
    bool has_user = false;

    /// "https://host:8140": what connections and credentials belong to.
    std::string origin() const;
    /// The value of Host.
    std::string authority() const;
    std::string text() const { return origin() + target; }  ///< without the user
};

/// Does a host's name or address mean this machine alone?
bool is_loopback(const std::string& host);

base::Result<Url> parse_url(std::string_view text);
/// `reference` as "Location" has it: absolute, "//host/path", "/path" or "path".
base::Result<Url> resolve_url(const Url& base, std::string_view reference);

}  // namespace bunraku::http
