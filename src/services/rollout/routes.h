// SPDX-License-Identifier: Apache-2.0
// Rollouts over HTTP: /bunraku/v1/rollouts, /bunraku/v1/versions and the versions of nodes.
#pragma once

#include <memory>

#include "net/http/auth_conf.h"
#include "net/http/router.h"
#include "services/rollout/controller.h"
#include "services/server/tokens.h"

namespace bunraku::rollout {

struct RouteContext {
    std::shared_ptr<Controller> controller;
    std::shared_ptr<http::Authorization> authorization;
    server::ApiTokens* tokens = nullptr;
    std::function<void()> changed;  ///< called after each change, so that the controller runs
};
void add_rollout_routes(http::Router& router, const RouteContext& context);

}  // namespace bunraku::rollout
