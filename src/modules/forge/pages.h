// Pages for people: what there is, its versions, what they say of themselves, what they need and
// who needs them, how two differ; feeds of new releases.
//   /forge                                   repositories
//   /forge/REPO[?q=WORDS]                    modules, searched
//   /forge/REPO/AUTHOR-NAME[/VERSION]        a module, a release of it
//   /forge/REPO/AUTHOR-NAME/diff?from=A&to=B what differs
//   /forge/REPO[/AUTHOR-NAME]/releases.atom  new releases (RFC 4287)
#pragma once

#include <string>
#include <string_view>

#include "modules/forge/service.h"
#include "net/http/message.h"

namespace bunraku::forge {

/// `path` begins behind "/forge" and is decoded. What is private was asked before.
http::Response answer_page(ForgeService& service, const http::Request& request,
                           std::string_view path);
/// The repository that a path of a page names; empty: none.
std::string repository_of_page(std::string_view path);
/// The text of a JSON fragment; empty where it is none.
std::string fragment_text(std::string_view json);

}  // namespace bunraku::forge
