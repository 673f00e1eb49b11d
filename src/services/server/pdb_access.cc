// SPDX-License-Identifier: Apache-2.0
#include "services/server/pdb_access.h"

#include <algorithm>
#include <fmt/format.h>

#include "core/base/number.h"
#include "core/base/text.h"
#include "net/http/path.h"
#include "store/db/command.h"

namespace bunraku::server {

using http::Request;
using http::Response;

namespace {

/// Returns the decoded segments of a path.
std::vector<std::string> path_segments(const Request& request) {
    std::vector<std::string> out;
    for (std::string_view part : base::split(std::string_view(request.path).substr(1), '/'))
        out.push_back(http::percent_decode(part).value_or(""));
    return out;
}

/// Reports whether the request reads only the node itself. A query parameter is excluded because
/// its subqueries could read other nodes.
bool reads_itself(const Request& request, const std::string& name) {
    if ((request.method != "GET" && request.method != "HEAD") || request.query_value("query"))
        return false;
    const auto at = path_segments(request);
    const auto begins = [&](std::initializer_list<std::string_view> parts) {
        return at.size() > parts.size() && std::equal(parts.begin(), parts.end(), at.begin());
    };
    for (const char* kind : {"nodes", "factsets", "catalogs"})
        if (begins({"pdb", "query", "v4", kind})) return at[4] == name;
    return begins({"bunraku", "v1", "nodes"}) && at[3] == name;
}

/// Reports whether a node sends its own facts or report in a current format, whose body contains
/// the `certname`. Catalogs are excluded, because the compiler decides what a node exports to
/// others.
bool sends_itself(const Request& request, const std::string& name) {
    const auto* command = request.query_value("command");
    const auto* version = request.query_value("version");
    const auto* certname = request.query_value("certname");
    if (request.method != "POST" || request.path != "/pdb/cmd/v1" || !command || !version ||
        !certname || *certname != name)
        return false;
    std::string words = *command;
    std::ranges::replace(words, '_', ' ');
    const auto kind = store::command_from_name(words);
    const auto number = base::parse_integer<int>(*version);
    return kind && number &&
           ((*kind == store::CommandKind::ReplaceFacts && *number >= 5) ||
            (*kind == store::CommandKind::StoreReport && *number >= 8));
}

}  // namespace

bool is_from_node_itself(const Request& request, const std::string& certname) {
    return request.peer.tls && request.peer.name() == certname;
}

bool reaches_only_itself(const Request& request, const StoreClients& clients) {
    const bool others_decide =
        clients.allow_list ||
        (clients.authorization && !clients.authorization->current()->is_stock());
    if (others_decide || !clients.serves_agents || !request.peer.certificate) return false;
    const std::string name(request.peer.name());
    const auto* mark = request.peer.certificate->extension("pp_cli_auth");
    return !(mark && *mark == "true") && (name.empty() || name != clients.own_name);
}

std::optional<Response> store_refusal(const Request& request, const StoreClients& clients) {
    if (clients.allow_list) return clients.allow_list->refusal(request);
    // If nodes use certificates on this port, clients without one must be refused. Otherwise a node
    // could bypass its restrictions by omitting its certificate.
    if (!request.peer.certificate && (clients.certificate_needed || clients.serves_agents)) {
        return Response::text(403,
                              "A client certificate signed by this server's certificate authority "
                              "is needed (see the setting client-auth)");
    }
    const bool is_store =
        request.path.starts_with("/pdb/") || request.path.starts_with("/bunraku/v1/");
    if (!clients.serves_agents || !is_store || request.path.starts_with("/pdb/meta/"))
        return std::nullopt;
    if (clients.authorization && !clients.authorization->current()->is_stock())
        return clients.authorization->access().refusal(request, {});
    if (!reaches_only_itself(request, clients)) return std::nullopt;
    const std::string name(request.peer.name());
    if (!name.empty() && (reads_itself(request, name) || sends_itself(request, name)))
        return std::nullopt;
    return Response::text(
        403, fmt::format("The client certificate name {} may access the store only for itself: its "
                         "own node, and its facts and reports. Other clients must be listed in the "
                         "file of the setting certificate-allowlist, have the extension "
                         "pp_cli_auth, or be allowed by auth.conf",
                         name.empty() ? "null" : name));
}

}  // namespace bunraku::server
