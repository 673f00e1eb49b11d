// Which certificates reach the store (/pdb, /bunraku/v1) on the agents' port.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "net/http/auth_conf.h"
#include "net/http/message.h"
#include "services/server/allow_list.h"

namespace bunraku::server {

/// What a server knows about the store's clients.
struct StoreClients {
    std::shared_ptr<AllowList> allow_list;               ///< null: none
    std::shared_ptr<http::Authorization> authorization;  ///< null: there is no auth.conf here
    /// Whether nodes show their certificates here: the server compiles or signs. On a store alone
    /// every certificate of the authority is a client's, as with PuppetDB.
    bool serves_agents = false;
    bool certificate_needed = true;  ///< the setting client-auth
    std::string own_name;            ///< certname of this server
};

/// Returns a response if the client of a request over TLS may not make it, else nullopt. The
/// certificate is not a bad one.
///
/// A list decides alone; without one the rules of a site's auth.conf; without those a certificate
/// with pp_cli_auth and the server's own may do all. Every other one reads the node of its name and
/// sends facts and reports of it.
std::optional<http::Response> store_refusal(const http::Request& request,
                                            const StoreClients& clients);

/// Whether a command is sent by the node that it is about, whose body must be about it, too.
bool is_from_node_itself(const http::Request& request, const std::string& certname);

}  // namespace bunraku::server
