// SPDX-License-Identifier: Apache-2.0
// The history over HTTP: /bunraku/v1/nodes/NAME/catalogs, /bunraku/v1/undeclared and
// /bunraku/v1/drift.
#pragma once

#include <memory>

#include "net/http/router.h"
#include "store/engine/service.h"

namespace bunraku::server {

void add_history_routes(http::Router& router, std::shared_ptr<store::Service> service);

}  // namespace bunraku::server
