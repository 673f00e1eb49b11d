// SPDX-License-Identifier: Apache-2.0
// The client half of sockets() (internal to this folder).
#pragma once

#include <memory>
#include <string>

#include "net/http/network.h"

namespace bunraku::http {

/// For `session_file`, see resuming_sockets().
std::unique_ptr<Connector> make_socket_connector(const ClientOptions& options,
                                                 std::string session_file = {});

}  // namespace bunraku::http
