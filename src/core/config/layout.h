// SPDX-License-Identifier: Apache-2.0
// Detects which of Puppet's two layouts a machine uses for root's files: that of the all-in-one
// packages (/etc/puppetlabs), or Debian's (/etc/puppet, /var/lib/puppet).
#pragma once

#include <string>
#include <vector>

#include "core/sys/file_system.h"

namespace bunraku::config {

class Settings;

struct Layout {
    bool debian = false;
    /// The CA folders, if both layouts have one; otherwise empty.
    std::vector<std::string> conflicting_folders;
};

/// Detects the layout in use. If only one of the two layouts has a CA, returns that one. Otherwise,
/// if only one has a private key of the node, returns that one. Otherwise returns Debian's layout
/// if its puppet.conf exists and the folders of the other layout are missing, or contain neither
/// code nor puppet.conf. Other programs may create empty folders there.
Layout find_layout(sys::FileSystem& files);

/// Returns a message if this machine has two CAs and `settings` do not select one. Returns an empty
/// text otherwise.
std::string authority_problem(const Settings& settings, sys::FileSystem& files);

}  // namespace bunraku::config
