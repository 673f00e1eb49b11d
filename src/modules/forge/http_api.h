// SPDX-License-Identifier: Apache-2.0
// The HTTP interface of the forge: API v1 and v3 and published trees, with all forms of addressing.
#pragma once

#include "net/http/router.h"

namespace bunraku::forge {

class ForgeService;

/// Adds the routes of the forge. `service` must outlive the router.
///   /v3/..., /api/v1/..., /modules.json      repositories by basic auth, or the default one
///   /pulp_puppet/forge/{repository,consumer}/ID/...   the same, named in the path
///   /pulp/puppet/ID/..., /pulp/puppet_files/ID/...    published trees
void mount(http::Router& router, ForgeService& service);

}  // namespace bunraku::forge
