// SPDX-License-Identifier: Apache-2.0
// The machine's sockets, with TLS sessions that are resumed in the next run of the program.
#pragma once

#include <memory>
#include <string>

namespace bunraku::http {

class Network;

/// Returns a network like sockets() whose clients store the TLS session of their first server in a
/// file (0600) and resume it. The next process then needs no full handshake. The file is as secret
/// as the private key during the session's lifetime of an hour (docs/design/0282).
std::unique_ptr<Network> resuming_sockets(std::string session_file);

}  // namespace bunraku::http
