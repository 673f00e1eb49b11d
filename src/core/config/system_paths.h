// Whose configuration and state lie in the machine's places rather than in a home.
#pragma once

#include <cstdint>
#include <string_view>

namespace bunraku::config {

/// Root's, and those of the user that servers run as: a unit needs no options for them, nor does
/// `sudo -u puppet bunraku ca list`.
bool uses_system_paths(std::uint32_t uid, std::string_view name);

}  // namespace bunraku::config
