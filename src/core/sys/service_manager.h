// What systemd is told of a service of Type=notify (sd_notify(3)).
#pragma once

#include <string_view>

namespace bunraku::sys {

/// "READY=1", "STOPPING=1", .. to the socket that NOTIFY_SOCKET names; nothing where nobody
/// listens.
void notify_service_manager(std::string_view state);

}  // namespace bunraku::sys
