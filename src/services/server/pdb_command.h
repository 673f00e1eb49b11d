// PuppetDB's command API, POST /pdb/cmd/v1.
#pragma once

#include <memory>

#include "net/http/router.h"
#include "store/engine/service.h"

namespace bunraku::server {

/// Commands of listed clients go into the service's queue; the answer comes once they are on disk.
void add_command_routes(http::Router& router, std::shared_ptr<store::Service> service);

}  // namespace bunraku::server
