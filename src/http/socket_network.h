// The client half of sockets(); inside this folder only.
#pragma once

#include <memory>

#include "http/network.h"

namespace bunraku::http {

std::unique_ptr<Connector> make_socket_connector(const ClientOptions& options);

}  // namespace bunraku::http
