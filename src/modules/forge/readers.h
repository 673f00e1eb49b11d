// Who may read a private repository: users with passwords, groups of them, tokens and client
// certificates, each for as long as it was granted. Passwords and tokens are random and made here,
// so that their plain digests are safe to keep.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"

namespace bunraku::forge {

/// Somebody a repository was opened for.
struct Reader {
    std::string kind;        ///< "user", "group", "token" or "certificate"
    std::string name;        ///< of a certificate its common name; "*.example.com" takes a domain
    std::int64_t until = 0;  ///< seconds since the epoch; 0: for ever
    std::string text() const { return kind + ":" + name; }
    /// "user:alice".
    static std::optional<Reader> parse(std::string_view text);
};

struct User {
    std::string name, sha256;
    std::vector<std::string> groups;
    std::int64_t until = 0;
};

/// Who asks, as far as credentials prove it.
struct Requester {
    bool everything = false;  ///< the setting forge_token
    std::string user, token, certificate;
    std::vector<std::string> groups;
    std::vector<std::string> token_repositories;
    bool known() const {
        return everything || !user.empty() || !token.empty() || !certificate.empty();
    }
    std::string text() const;  ///< for the audit log
};

bool may_read(const std::vector<Reader>& readers, std::string_view repository,
              const Requester& requester, std::int64_t now);

/// "2026-12-31", "2026-12-31T10:00:00Z" or "90d" from `now`.
std::optional<std::int64_t> parse_expiry(std::string_view text, std::int64_t now);
/// 64 hexadecimal digits that nobody can guess.
base::Result<std::string> new_secret();

}  // namespace bunraku::forge
