// SPDX-License-Identifier: Apache-2.0
// Users whose configuration and state are in the system's folders rather than in a home folder.
#pragma once

#include <cstdint>
#include <string_view>

namespace bunraku::config {

/// Reports whether a user uses the system's folders: root, and the users that servers run as. A
/// systemd unit therefore needs no options for them, nor does `sudo -u puppet bunraku ca list`.
bool uses_system_paths(std::uint32_t uid, std::string_view name);

}  // namespace bunraku::config
