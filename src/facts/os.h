// Which distribution a machine runs.
#pragma once

#include <string>

#include "sys/file_system.h"

namespace bunraku::facts {

/// As the facts os.name, os.family, os.release.full and os.distro have it; "" where it is unknown.
struct OsInfo {
    std::string name, family, release, codename, description, distro_id;
};
/// Reads os-release and the distribution's own release file.
OsInfo read_os(sys::FileSystem& files);

}  // namespace bunraku::facts
