// SPDX-License-Identifier: Apache-2.0
#include "services/server/front_page.h"

#include <algorithm>
#include <fmt/format.h>

#include "modules/forge/html_page.h"

namespace bunraku::server {

namespace {

struct ApiLink {
    std::string_view role;  ///< empty if every server has it
    std::string_view path, what;
    bool link = false;  ///< true if a browser without a certificate can open it
};

constexpr ApiLink kApiLinks[] = {
    {"compiler", "/puppet/v3/", "catalogs, files, facts and reports of agents (puppetserver)"},
    {"compiler", "/puppet/v4/catalog", "catalogs for clients that auth.conf allows (puppetserver)"},
    {"compiler", "/puppet-admin-api/v1/", "the cache of environments (puppetserver)"},
    {"ca", "/puppet-ca/v1/", "certificates, requests and revocation lists (puppetserver)"},
    {"store", "/pdb/query/v4", "queries in PQL or as syntax trees (PuppetDB)"},
    {"store", "/pdb/cmd/v1", "commands (PuppetDB)"},
    {"store", "/pdb/meta/v1/version", "the version of the implemented PuppetDB API", true},
    {"forge", "/v3/modules", "modules (Forge API v3)", true},
    {"forge", "/v3/releases", "their releases (Forge API v3)", true},
    {"forge", "/api/v1/releases.json", "dependencies, with ?module=AUTHOR/NAME (Forge API v1)"},
    {"forge", "/deploy/status", "deploys triggered by a webhook"},
    {"console", "/console/", "the web console", true},
    {"", "/status/v1/services", "the status of each service", true},
    {"", "/metrics", "metrics for Prometheus", true},
    {"", "/metrics/v2", "the same for dashboards that read Jolokia"},
};

}  // namespace

void mount_front_page(http::Router& router, std::vector<std::string> roles,
                      std::string_view version) {
    std::string rows;
    for (const auto& place : kApiLinks) {
        if (!place.role.empty() && std::ranges::find(roles, place.role) == roles.end()) continue;
        const auto path = forge::html_text(place.path);
        rows += fmt::format("<tr><td>{}</td><td>{}</td></tr>\n",
                            place.link ? fmt::format("<a href=\"{0}\">{0}</a>", path)
                                       : fmt::format("<code>{}</code>", path),
                            forge::html_text(place.what));
    }
    const bool console = std::ranges::find(roles, "console") != roles.end();
    auto page = forge::html_page(
        "Bunraku", fmt::format("<p>Version {}. This server is: {}.</p>\n<table>\n{}</table>\n"
                               "<p><code>bunraku help</code> lists all commands.</p>\n",
                               forge::html_text(version),
                               forge::html_text(fmt::format("{}", fmt::join(roles, ", "))), rows));
    router.add("GET", "/", http::Access::anyone(),
               [page = std::move(page), console](http::Request& request) {
                   const auto accept = request.headers.get("Accept");
                   if (!console || accept.find("text/html") == std::string_view::npos)
                       return forge::html_response(page);
                   http::Response out;
                   out.status = 302;
                   out.headers.set("Location", "/console/");
                   return out;
               });
}

}  // namespace bunraku::server
