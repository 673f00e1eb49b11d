// SPDX-License-Identifier: Apache-2.0
// Finds out who makes a request, and the pages to sign in and out.
#pragma once

#include <optional>
#include <string>

#include "net/http/router.h"
#include "services/console/console.h"
#include "services/console/visit.h"

namespace bunraku::console {

/// A user with access to the console.
struct Caller {
    Viewer viewer;
    std::string csrf;    ///< of the session; empty for a token in a header
    std::string cookie;  ///< a Set-Cookie header if a session begins with this request
};

/// Returns the caller, or nullopt if the request proves no identity that the console accepts.
///
/// The cookie of a session is accepted only while the proof of its sign-in is valid: the token has
/// not ended, or the request has the same client certificate, or a proxy sends it with the same
/// name. A token in a header may read pages without a session.
std::optional<Caller> identify_caller(Console& console, const http::Request& request,
                                      SessionUse use = SessionUse::Record);

/// Returns Check for requests that an open page makes by itself.
SessionUse session_use(const http::Request& request);

/// Reports whether a POST comes from a form of this session on a page of this server.
bool is_own_form(const http::Request& request, const Visit& visit);

/// Returns the redirect to the page to sign in, or 401 for clients that do not accept HTML.
Response sign_in_needed(const http::Request& request);

/// Adds the routes /console/sign-in, /console/sign-out and /console/link/{secret}.
void mount_sign_in(http::Router& router, Console& console);

/// Returns the address of the one-time link.
std::string link_path(std::string_view secret);

}  // namespace bunraku::console
