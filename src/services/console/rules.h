// SPDX-License-Identifier: Apache-2.0
// The file console.conf: the users with a certificate or from a reverse proxy, and their roles.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "net/http/message.h"
#include "services/console/viewer.h"

namespace bunraku::console {

class AccessRules {
public:
    /// Parses the file's text. `path` is for messages, which name the line.
    ///
    ///     [certificates]
    ///     alice = admin
    ///     bob = viewer staging, testing
    ///     [proxy]
    ///     addresses = 127.0.0.1, 192.0.2.7
    ///     header = X-Remote-User
    ///     scheme_header = X-Forwarded-Proto
    ///     [users]
    ///     carol@example.org = operator
    ///     [links]
    ///     commit = https://git.example.org/control/commit/{commit}
    static base::Result<AccessRules> parse(std::string_view text, const std::string& path);
    /// Reads the file. A missing file gives no access.
    static base::Result<AccessRules> read(const std::string& path);

    /// Returns the viewer that the client's certificate or the proxy's header identifies.
    std::optional<Viewer> identify(const http::Request& request) const;
    /// Reports whether the request comes from a listed proxy.
    bool is_from_proxy(const http::Request& request) const;
    /// Reports whether the browser used TLS: up to this server, or up to a listed proxy whose
    /// header says so.
    bool is_https(const http::Request& request) const;

    /// Returns the address of a commit, or an empty text if none is configured or `code` is not the
    /// id of a commit.
    std::string commit_url(std::string_view code) const;

private:
    struct Grant {
        Right right = Right::View;
        std::vector<std::string> environments;
    };
    using Grants = std::map<std::string, Grant, std::less<>>;
    static base::Result<Grant> parse_grant(std::string_view text);
    static std::optional<Viewer> viewer_of(const Grants& grants, std::string_view name,
                                           Viewer::Via via);
    Grants certificates_, users_;
    std::vector<std::string> proxies_;  ///< addresses
    std::string commit_url_;
    std::string header_, scheme_header_ = "X-Forwarded-Proto";
};

}  // namespace bunraku::console
