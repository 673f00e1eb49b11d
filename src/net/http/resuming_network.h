// The machine's sockets, for a program that runs again and again.
#pragma once

#include <memory>
#include <string>

namespace bunraku::http {

class Network;

/// sockets(), whose clients leave the TLS session of the first server they ask in a file (0600),
/// and take it up from there: the next process needs no whole handshake. The file is as secret as
/// the private key for as long as the session lives, an hour (docs/design/0282).
std::unique_ptr<Network> resuming_sockets(std::string session_file);

}  // namespace bunraku::http
