// Which distribution a machine runs.
#pragma once

#include <string>

#include "core/sys/file_system.h"
#include "core/sys/process.h"

namespace bunraku::facts {

/// The parts of a version; "" where there is none.
struct ReleaseParts {
    std::string full, major, minor, patch;
};

/// As the facts os.name, os.family, os.release and os.distro have it; "" where it is unknown.
struct OsInfo {
    std::string name, family;
    ReleaseParts release;
    std::string codename, description, distro_id, specification;
    ReleaseParts distro_release;
    /// Whose rules hold here: "debian", "rhel", "sles", "linux".
    std::string kin;
};
/// Reads os-release and the distribution's own release files, by the rules of Facter 4.11. Where
/// `processes` is given, programs are asked what no file says (lsb_release, rpm on Amazon Linux).
OsInfo read_os(sys::FileSystem& files, sys::Processes* processes = nullptr);

}  // namespace bunraku::facts
