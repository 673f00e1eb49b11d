// SPDX-License-Identifier: Apache-2.0
// PuppetDB's admin API: /pdb/admin/v1/{archive,cmd,summary-stats}.
#pragma once

#include <memory>

#include "net/http/router.h"
#include "store/engine/service.h"

namespace bunraku::server {

/// Adds the routes, which only listed clients may use.
void add_admin_routes(http::Router& router, std::shared_ptr<store::Service> service);

}  // namespace bunraku::server
