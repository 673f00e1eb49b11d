// SPDX-License-Identifier: Apache-2.0
// HTML pages of the forge: repositories, modules, releases with their dependencies and dependents,
// differences between releases, and feeds of new releases.
//   /forge                                   repositories
//   /forge/REPO[?q=WORDS]                    modules, with search
//   /forge/REPO/AUTHOR-NAME[/VERSION]        a module or one of its releases
//   /forge/REPO/AUTHOR-NAME/diff?from=A&to=B differences between two releases
//   /forge/REPO[/AUTHOR-NAME]/releases.atom  new releases (RFC 4287)
#pragma once

#include <string>
#include <string_view>

#include "modules/forge/service.h"
#include "net/http/message.h"

namespace bunraku::forge {

/// Answers a page. `path` is the decoded path after "/forge". The caller has already checked access
/// to private repositories.
http::Response answer_page(ForgeService& service, const http::Request& request,
                           std::string_view path);
/// Returns the repository in the path of a page, or an empty string.
std::string repository_of_page(std::string_view path);
/// Returns the string in a JSON fragment, or an empty string if the fragment is not a string.
std::string fragment_text(std::string_view json);

}  // namespace bunraku::forge
