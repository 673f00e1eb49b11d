// Unix sockets: HTTP between processes of one user on one machine.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace bunraku::http {

class Network;

/// Peer::address of whoever came over a Unix socket: the server's user, or root.
inline constexpr std::string_view kLocalPeer = "local";

/// Listens on `path`, for the owner and root alone, in place of what an earlier process left there.
/// Returns the descriptor, which does not block.
base::Result<int> listen_local(const std::string& path);
/// Connects to the server on `path` and returns the descriptor, which does not block.
base::Result<int> connect_local(const std::string& path);
/// A network for clients in which every plain URL leads to the server on `path`.
std::unique_ptr<Network> local_network(std::string path);

}  // namespace bunraku::http
