// SPDX-License-Identifier: Apache-2.0
// How pages show a kind of failure.
#pragma once

#include <cstdint>

#include "services/console/failures.h"
#include "services/console/html.h"

namespace bunraku::console {

/// Writes resource and message. A part that differs between nodes is a box with its kind; a part
/// that all nodes share is shown as it is.
void failure_title(Html& h, const FailureKind& kind);
/// Writes "since 3 h ago · code 4f2a91c · modules/nginx/manifests/init.pp:7".
void failure_origin(Html& h, const FailureKind& kind, std::int64_t now_ms);

}  // namespace bunraku::console
