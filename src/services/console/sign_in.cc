// SPDX-License-Identifier: Apache-2.0
#include "services/console/sign_in.h"

#include <fmt/format.h>
#include <openssl/crypto.h>

#include "core/base/text.h"
#include "net/http/url.h"
#include "services/console/frame.h"
#include "services/console/parts.h"

namespace bunraku::console {

using http::Request;

namespace {

constexpr std::uint64_t kMostSignIn = 4096;

/// Browsers accept the prefix __Host- only from this host, over TLS, for all paths.
std::string_view cookie_name(bool https) {
    return https ? "__Host-bunraku-console" : "bunraku-console";
}

std::string session_cookie(const Console& console, const Request& request, std::string_view id) {
    const bool https = console.rules()->is_https(request);
    return fmt::format("{}={}; Path=/; HttpOnly; SameSite=Strict{}{}", cookie_name(https), id,
                       https ? "; Secure" : "", id.empty() ? "; Max-Age=0" : "");
}

std::string_view session_id(const Console& console, const Request& request) {
    const auto wanted = cookie_name(console.rules()->is_https(request));
    for (const auto& [name, value] : request.headers) {
        if (!base::same_ignoring_case(name, "Cookie")) continue;
        for (const auto part : base::split(value, ';')) {
            const auto pair = base::trim(part);
            const auto equals = pair.find('=');
            if (equals != std::string_view::npos && pair.substr(0, equals) == wanted)
                return pair.substr(equals + 1);
        }
    }
    return {};
}

/// Returns the viewer of a token with a role in the console.
std::optional<Viewer> viewer_of_token(const std::optional<server::ApiToken>& token) {
    if (!token) return std::nullopt;
    const auto right = right_of_role(token->role);
    if (!right) return std::nullopt;
    return Viewer{token->name, *right, token->environments, Viewer::Via::Token};
}

/// Returns the viewer of a session, with the viewer's current rights, if its proof is still valid.
std::optional<Viewer> proved(Console& console, const Request& request, const Session& session) {
    switch (session.viewer.via) {
        case Viewer::Via::Link: return session.viewer;
        case Viewer::Via::Token:
            return viewer_of_token(
                console.tokens.find_digest(session.token_digest, console.now_s()));
        case Viewer::Via::Certificate:
        case Viewer::Via::Proxy: break;
    }
    auto viewer = console.rules()->identify(request);
    if (!viewer || viewer->name != session.viewer.name || viewer->via != session.viewer.via)
        return std::nullopt;
    return viewer;
}

bool accepts_html(const Request& request) {
    return request.headers.get("Accept").find("text/html") != std::string_view::npos;
}

/// Starts a session and writes it to the audit log. If the line cannot be written, the session does
/// not start.
base::Result<std::string> start_session(Console& console, const Request& request,
                                        const Viewer& viewer, std::string token_digest) {
    auto id = BUNRAKU_TRY(console.sessions.start(viewer, std::move(token_digest), console.now_s()));
    const auto written = console.audit.add(
        viewer, {.action = "sign-in", .address = request.peer.address, .result = "done"},
        console.context.runtime.now_ns());
    if (written) return id;
    console.sessions.end(id);
    console.context.log.log(base::Level::Err,
                            fmt::format("Refused the sign-in of {}, because the audit log cannot "
                                        "be written: {}",
                                        viewer.name, written.error().message));
    return base::failure("The audit log cannot be written. The server's log has the reason.");
}

std::string_view first_of(const Visit::Form& form, std::string_view wanted) {
    for (const auto& [name, value] : form)
        if (name == wanted) return value;
    return {};
}

/// Reports whether a page of another site sent the request, according to the browser.
bool is_cross_site(const Request& request) {
    const auto site = request.headers.get("Sec-Fetch-Site");
    // Proxies may change Host, so the browser's own verdict comes first.
    if (!site.empty()) return site != "same-origin" && site != "none";
    const auto origin = request.headers.get("Origin");
    if (origin.empty()) return false;
    const auto host = request.headers.get("Host");
    const auto scheme = origin.find("://");
    return scheme == std::string_view::npos || origin.substr(scheme + 3) != host;
}

/// Returns a path of the console, or its first page.
std::string target_of(std::string_view text) {
    const bool own = text.starts_with(fmt::format("{}/", kRoot)) && is_safe_target(text);
    return own ? std::string(text) : Url({}).text();
}

Response to_page(std::string_view target) {
    Response out;
    out.status = 303;
    out.headers.set("Location", target);
    return out;
}

Response refusal_page(int status, std::string_view title, std::string_view message) {
    Html h;
    h.leaf("p", message);
    return bare_page(status, title, h.take());
}

/// Starts a session with a new id, ends the one that the request had, and goes to `target`.
Response begin_session(Console& console, const Request& request, Viewer viewer,
                       std::string token_digest, std::string_view target) {
    if (const auto old = session_id(console, request); !old.empty()) console.sessions.end(old);
    const auto id = start_session(console, request, viewer, std::move(token_digest));
    if (!id) return refusal_page(500, "Signing in is not possible", id.error().message);
    auto out = to_page(target);
    out.headers.set("Set-Cookie", session_cookie(console, request, *id));
    return out;
}

Response sign_in_page(int status, std::string_view target, std::string_view problem) {
    Html h;
    if (!problem.empty()) {
        const auto bar = h.in("p", {{"class", "note-bar bad"}, {"role", "alert"}});
        h.text(problem);
    }
    {
        const auto form =
            h.in("form", {{"class", "sign-in"}, {"method", "post"}, {"action", Url({"sign-in"})}});
        h.leaf("label", {{"for", "token"}}, "Token");
        h.empty("input", {{"id", "token"},
                          {"name", "token"},
                          {"type", "password"},
                          {"autocomplete", "current-password"},
                          {"required", true},
                          {"autofocus", true}});
        h.empty("input", {{"type", "hidden"}, {"name", "to"}, {"value", target}});
        h.leaf("button", {{"class", "pri"}}, "Sign in");
    }
    {
        const auto help = h.in("p", {{"class", "m"}});
        h.text("An administrator of this server makes a token:");
    }
    {
        const auto pre = h.in("pre", {{"class", "diff"}, {"tabindex", "0"}});
        h.leaf("code", "bunraku token create --name YOU --role viewer");
    }
    h.leaf("p", {{"class", "m"}},
           "Certificates and reverse proxies are configured in console.conf.");
    return bare_page(status, "Sign in", h.take());
}

Response sign_in(Console& console, Request& request) {
    const auto form = http::parse_query(request.body).value_or(Visit::Form());
    const auto target = target_of(first_of(form, "to"));
    if (is_cross_site(request))
        return sign_in_page(403, target, "The form came from another site.");
    const auto token = console.tokens.find(base::trim(first_of(form, "token")), console.now_s());
    auto viewer = viewer_of_token(token);
    if (!viewer) {
        return sign_in_page(403, target,
                            token ? "This token has no role in the console."
                                  : "This token is not valid, or it has expired.");
    }
    return begin_session(console, request, std::move(*viewer), token->sha256, target);
}

Response sign_out(Console& console, Request& request) {
    if (is_cross_site(request))
        return refusal_page(403, "Not allowed", "The form came from another site.");
    const auto form = http::parse_query(request.body).value_or(Visit::Form());
    const auto id = session_id(console, request);
    const auto session = console.sessions.find(id, console.now_s());
    if (session && first_of(form, "csrf") == session->csrf) console.sessions.end(id);
    auto out = to_page(Url({"sign-in"}));
    out.headers.set("Set-Cookie", session_cookie(console, request, ""));
    return out;
}

Response follow_link(Console& console, Request& request) {
    if (request.method != "GET")
        return refusal_page(403, "Not allowed", "The link needs a browser.");
    // A proxy on this machine forwards requests of others.
    if (!request.peer.loopback || console.rules()->is_from_proxy(request)) {
        return refusal_page(403, "Not allowed",
                            "This link works only in a browser on the server's machine.");
    }
    if (!console.sessions.redeem(request.param("secret"), console.now_s())) {
        return refusal_page(403, "The link is no longer valid",
                            "It works once, within 15 minutes. Restart the server to get a new "
                            "one, or make a token: "
                            "bunraku token create --name YOU --role admin");
    }
    console.remove_link_file();
    Viewer viewer{"local administrator", Right::Administer, {}, Viewer::Via::Link};
    return begin_session(console, request, std::move(viewer), "", Url({}));
}

}  // namespace

SessionUse session_use(const Request& request) {
    const bool automatic = request.headers.has("X-Console-Live") ||
                           request.headers.get("Accept") == "text/event-stream";
    return automatic ? SessionUse::Check : SessionUse::Record;
}

std::optional<Caller> identify_caller(Console& console, const Request& request, SessionUse use) {
    const auto id = session_id(console, request);
    if (const auto session = console.sessions.find(id, console.now_s(), use)) {
        if (auto viewer = proved(console, request, *session))
            return Caller{std::move(*viewer), session->csrf, ""};
        console.sessions.end(id);
    }
    if (const auto text = http::bearer_token(request); !text.empty()) {
        auto viewer = viewer_of_token(console.tokens.find(text, console.now_s()));
        if (!viewer) return std::nullopt;
        return Caller{std::move(*viewer), "", ""};
    }
    auto viewer = console.rules()->identify(request);
    if (!viewer) return std::nullopt;
    // Programs do not keep cookies, and they submit no forms.
    if (!accepts_html(request)) return Caller{std::move(*viewer), "", ""};
    const auto fresh = start_session(console, request, *viewer, "");
    if (!fresh) return std::nullopt;
    const auto session = console.sessions.find(*fresh, console.now_s());
    return Caller{std::move(*viewer), session ? session->csrf : "",
                  session_cookie(console, request, *fresh)};
}

bool is_own_form(const Request& request, const Visit& visit) {
    const auto given = visit.field("csrf");
    return !is_cross_site(request) && !visit.csrf.empty() && given.size() == visit.csrf.size() &&
           CRYPTO_memcmp(given.data(), visit.csrf.data(), given.size()) == 0;
}

Response sign_in_needed(const Request& request) {
    if (!accepts_html(request)) return Response::text(401, "Sign in first: see /console/sign-in");
    if (request.method != "GET") {
        // After the sign-in, the visitor sees the page of the form again.
        const auto from = http::parse_url(request.headers.get("Referer"));
        return sign_in_page(401, target_of(from && !is_cross_site(request) ? from->target : ""),
                            "You are not signed in, so nothing was done. Sign in, and repeat the "
                            "action.");
    }
    return to_page(Url({"sign-in"}).with("to", request.target));
}

std::string link_path(std::string_view secret) { return Url({"link", secret}).text(); }

void mount_sign_in(http::Router& router, Console& console) {
    const auto add = [&](std::string_view method, std::string_view path, auto handler) {
        http::RouteOptions options;
        options.max_body = method == "POST" ? kMostSignIn : 0;
        router.add(
            method, fmt::format("{}{}", kRoot, path), http::Access::anyone(),
            [&console, handler](Request& request) {
                Response out = handler(console, request);
                secure(out);
                return out;
            },
            options);
    };
    add("GET", "/sign-in", [](Console&, Request& request) {
        const auto* to = request.query_value("to");
        return sign_in_page(200, target_of(to ? *to : ""), "");
    });
    add("POST", "/sign-in", sign_in);
    add("POST", "/sign-out", sign_out);
    add("GET", "/link/{secret}", follow_link);
}

}  // namespace bunraku::console
