// SPDX-License-Identifier: Apache-2.0
// Tokens for operators' programs. The bearer of a token may use the routes that it was created for,
// without a certificate. The server stores only digests of tokens (docs/design/0172).
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "net/http/message.h"

namespace bunraku::server {

struct ApiToken {
    std::string name, sha256;
    /// Names in `scope_words`, or "METHOD /path", which includes all paths below it.
    std::vector<std::string> scopes;
    std::int64_t created_s = 0, expires_s = 0;  ///< in seconds since the epoch; 0 means never
    /// What the bearer may do in the console: one of `console_roles`, or empty.
    std::string role;
    /// The environments that the bearer may see in the console; empty means all.
    std::vector<std::string> environments;

    /// Reports whether the token allows a request. `path` must be canonical.
    bool allows(std::string_view method, std::string_view path) const;
};

/// A name for routes and its definition, such as "cache" for "DELETE /puppet-admin-api".
struct ScopeWord {
    std::string_view word, routes, about;
};
std::span<const ScopeWord> scope_words();
/// Returns the roles of the console, the weakest first: viewer, operator, admin.
std::span<const std::string_view> console_roles();

/// The token file, STATEDIR/tokens.json, which the running server and the command share.
/// Thread-safe.
class ApiTokens {
public:
    explicit ApiTokens(std::string path) : path_(std::move(path)) {}

    base::Result<std::vector<ApiToken>> list() const;
    /// Creates a token and returns its text, which cannot be retrieved later.
    base::Result<std::string> create(ApiToken token);
    /// Returns false if no token has that name.
    base::Result<bool> revoke(const std::string& name);

    /// Returns the token with this text if it is valid now. The digest identifies a token that was
    /// found before. Both read the file again if it has changed.
    std::optional<ApiToken> find(std::string_view text, std::int64_t now_s);
    std::optional<ApiToken> find_digest(std::string_view sha256, std::int64_t now_s);
    /// Returns the name of a request's token (X-Authentication, or Authorization: Bearer) if it is
    /// valid for this request now. Reads the file again if it has changed.
    std::optional<std::string> bearer(const http::Request& request, std::int64_t now_s);

private:
    base::Result<void> write(const std::vector<ApiToken>& tokens) const;
    void read_again();

    std::string path_;
    std::mutex mutex_;
    std::string stamp_;
    std::map<std::string, ApiToken, std::less<>> by_digest_;
};

}  // namespace bunraku::server
