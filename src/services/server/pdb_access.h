// SPDX-License-Identifier: Apache-2.0
// Decides which certificates may access the store (/pdb, /bunraku/v1) on the agents' port.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "net/http/auth_conf.h"
#include "net/http/message.h"
#include "services/server/allow_list.h"

namespace bunraku::server {

/// The server's configuration of the store's clients.
struct StoreClients {
    std::shared_ptr<AllowList> allow_list;               ///< may be null
    std::shared_ptr<http::Authorization> authorization;  ///< null if the server has no auth.conf
    /// True if nodes use their certificates on this server, because it compiles or signs. In a
    /// server with only the store, every certificate of the authority belongs to a client, as with
    /// PuppetDB.
    bool serves_agents = false;
    bool certificate_needed = true;  ///< setting client-auth
    std::string own_name;            ///< certname of this server
};

/// Returns a response if the client of a TLS request must be refused, else nullopt. A client
/// certificate, if present, was verified before.
///
/// If there is an allow list, it alone decides. Otherwise, a site's own auth.conf decides.
/// Otherwise, certificates with pp_cli_auth and the server's own certificate have full access.
/// Every other certificate may read the node of its name and send facts and reports of it.
std::optional<http::Response> store_refusal(const http::Request& request,
                                            const StoreClients& clients);

/// Reports whether the client of a TLS request for the store is a node that reaches only itself.
bool reaches_only_itself(const http::Request& request, const StoreClients& clients);

/// Reports whether a node sends a command about itself. The body must then be about the node too.
bool is_from_node_itself(const http::Request& request, const std::string& certname);

}  // namespace bunraku::server
