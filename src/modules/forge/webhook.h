// What a git server says when somebody pushed: who may say it, and what it means. GitHub, GitLab,
// Gitea (Forgejo, Gogs) and Bitbucket, in their own forms.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "net/http/message.h"

namespace bunraku::forge {

/// Is this body from somebody who knows the secret? The error says what is wrong. SHA-1 signatures
/// are none.
base::Result<void> verify_webhook(const http::Request& request, std::string_view secret);

struct Push {
    bool ping = false;                  ///< only asks whether somebody is here
    std::vector<std::string> branches;  ///< changed, new or gone
    std::vector<std::string> urls;      ///< of the repository, all it has
    std::string name;                   ///< of the repository, without its owner
};
/// Error code 400: no push that this can read.
base::Result<Push> read_webhook(const http::Request& request);

/// Do two addresses mean one repository? "git@host:a/b.git" and "https://host/a/b" do.
bool same_repository(std::string_view a, std::string_view b);

}  // namespace bunraku::forge
