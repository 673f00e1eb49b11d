// SPDX-License-Identifier: Apache-2.0
// Verification and parsing of push webhooks from GitHub, GitLab, Gitea (Forgejo, Gogs) and
// Bitbucket, in their own formats.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "net/http/message.h"

namespace bunraku::forge {

/// Checks that the sender of the body knows the secret. The error describes the problem. SHA-1
/// signatures are not accepted.
base::Result<void> verify_webhook(const http::Request& request, std::string_view secret);

struct Push {
    bool ping = false;                  ///< true if the request is only a connection test
    std::vector<std::string> branches;  ///< changed, created or deleted
    std::vector<std::string> urls;      ///< all URLs of the repository
    std::string name;                   ///< name of the repository without its owner
};
/// Fails with code 400 if the body is not a push in a known format.
base::Result<Push> read_webhook(const http::Request& request);

/// Reports whether two addresses refer to the same repository, for example "git@host:a/b.git" and
/// "https://host/a/b".
bool same_repository(std::string_view a, std::string_view b);

}  // namespace bunraku::forge
