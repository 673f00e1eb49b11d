// The client half of sockets(); inside this folder only.
#pragma once

#include <memory>
#include <string>

#include "net/http/network.h"

namespace bunraku::http {

/// `session_file`: see resuming_sockets().
std::unique_ptr<Connector> make_socket_connector(const ClientOptions& options,
                                                 std::string session_file = {});

}  // namespace bunraku::http
