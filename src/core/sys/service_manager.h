// SPDX-License-Identifier: Apache-2.0
// Notifies systemd about a service of Type=notify (sd_notify(3)).
#pragma once

#include <string_view>

namespace bunraku::sys {

/// Sends "READY=1", "STOPPING=1" and so on to the socket in NOTIFY_SOCKET. Does nothing if the
/// variable is not set.
void notify_service_manager(std::string_view state);

}  // namespace bunraku::sys
