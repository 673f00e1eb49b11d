// SPDX-License-Identifier: Apache-2.0
// HTTP over Unix sockets, between processes of one user on one machine.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "core/base/result.h"

namespace bunraku::http {

class Network;

/// Peer::address of a client on a Unix socket: the server's user, or root.
inline constexpr std::string_view kLocalPeer = "local";

/// Listens on `path`, for the owner and root only, and replaces the socket of an earlier process.
/// Returns a non-blocking descriptor.
base::Result<int> listen_local(const std::string& path);
/// Connects to the server on `path`. Returns a non-blocking descriptor.
base::Result<int> connect_local(const std::string& path);
/// Returns a network for clients in which every plain URL leads to the server on `path`.
std::unique_ptr<Network> local_network(std::string path);

}  // namespace bunraku::http
