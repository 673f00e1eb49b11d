// SPDX-License-Identifier: Apache-2.0
// Detects the distribution of a machine.
#pragma once

#include <string>

#include "core/sys/file_system.h"
#include "core/sys/process.h"

namespace bunraku::facts {

/// The parts of a version; a missing part is empty.
struct ReleaseParts {
    std::string full, major, minor, patch;
};

/// The values of the facts os.name, os.family, os.release and os.distro; a value is empty if
/// unknown.
struct OsInfo {
    std::string name, family;
    ReleaseParts release;
    std::string codename, description, distro_id, specification;
    ReleaseParts distro_release;
    /// The family whose rules apply: "debian", "rhel", "sles", "linux".
    std::string rules_family;
};
/// Reads os-release and the distribution's own release files, by the rules of Facter 4.11. If
/// `processes` is not null, runs programs for data that no file contains (lsb_release, rpm on
/// Amazon Linux).
OsInfo read_os(sys::FileSystem& files, sys::Processes* processes = nullptr);

}  // namespace bunraku::facts
