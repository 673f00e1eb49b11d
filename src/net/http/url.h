// SPDX-License-Identifier: Apache-2.0
// The parts of "https://user:password@host:port/path?query".
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
    std::string user;    ///< decoded "user:password"; may be empty
    bool has_user = false;

    /// Returns "https://host:8140", the scope of connections and credentials.
    std::string origin() const;
    /// Returns the value of Host.
    std::string authority() const;
    std::string text() const { return origin() + target; }  ///< without the user
};

/// Reports whether a host name or address refers to this machine only.
bool is_loopback(const std::string& host);

base::Result<Url> parse_url(std::string_view text);
/// Resolves the value of "Location": absolute, "//host/path", "/path" or "path".
base::Result<Url> resolve_url(const Url& base, std::string_view reference);

}  // namespace bunraku::http
