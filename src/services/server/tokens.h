// Tokens for operators' programs: who bears one may use the routes that it was made for, without a
// certificate. Only their digests are kept (docs/design/0172).
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
    /// Words of `scope_words`, or "METHOD /path": whatever is at or below that path.
    std::vector<std::string> scopes;
    std::int64_t created_s = 0, expires_s = 0;  ///< of the epoch; 0: never

    /// `path` is canonical.
    bool allows(std::string_view method, std::string_view path) const;
};

/// The words that stand for routes, each with what it opens: "cache", "DELETE /puppet-admin-api".
struct ScopeWord {
    std::string_view word, routes, about;
};
std::span<const ScopeWord> scope_words();

/// The file of tokens, STATEDIR/tokens.json; the running server and the command share it.
/// Thread-safe.
class ApiTokens {
public:
    explicit ApiTokens(std::string path) : path_(std::move(path)) {}

    base::Result<std::vector<ApiToken>> list() const;
    /// Gives the token's text, which nobody can read again.
    base::Result<std::string> create(ApiToken token);
    /// False: there is none of that name.
    base::Result<bool> revoke(const std::string& name);

    /// The name of the token that a request bears (X-Authentication, or Authorization: Bearer)
    /// where it is good for that request now. The file is read again when it changed.
    std::optional<std::string> bearer(const http::Request& request, std::int64_t now_s);

private:
    base::Result<void> write(const std::vector<ApiToken>& tokens) const;

    std::string path_;
    std::mutex mutex_;
    std::string stamp_;
    std::map<std::string, ApiToken, std::less<>> by_digest_;
};

}  // namespace bunraku::server
