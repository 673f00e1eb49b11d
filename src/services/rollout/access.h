// SPDX-License-Identifier: Apache-2.0
// What other parts of this server, such as the console, need to show and control rollouts.
#pragma once

#include <functional>
#include <memory>

#include "services/rollout/controller.h"

namespace bunraku::rollout {

struct RolloutAccess {
    std::shared_ptr<Controller> controller;
    std::function<void()> changed;  ///< called after each change, so that the controller runs
};

}  // namespace bunraku::rollout
