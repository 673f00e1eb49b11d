// SPDX-License-Identifier: Apache-2.0
// PuppetDB's command API, POST /pdb/cmd/v1.
#pragma once

#include <functional>
#include <memory>

#include "net/http/router.h"
#include "store/engine/service.h"

namespace bunraku::server {

/// Adds the route. Commands of listed clients are added to the service's queue; the response is
/// sent once they are on disk. `only_itself` reports whether a client is a node that reaches only
/// itself; if not set, no client is.
void add_command_routes(http::Router& router, std::shared_ptr<store::Service> service,
                        std::function<bool(const http::Request&)> only_itself = {});

}  // namespace bunraku::server
