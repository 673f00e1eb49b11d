// Which of Puppet's two layouts root's files have on a machine: that of the all-in-one packages
// (/etc/puppetlabs), or Debian's (/etc/puppet, /var/lib/puppet).
#pragma once

#include <string>
#include <vector>

#include "core/sys/file_system.h"

namespace bunraku::config {

class Settings;

struct Layout {
    bool debian = false;
    /// The folders of certificate authorities that both layouts have; empty if at most one has any.
    std::vector<std::string> rivals;
};

/// A certificate authority decides, then a node's key, then code and Debian's puppet.conf beside
/// empty folders of the other layout, which other programs make, too.
Layout find_layout(sys::FileSystem& files);

/// Returns what is wrong if this machine has two authorities and `settings` do not say which is
/// used; empty if all is well.
std::string authority_problem(const Settings& settings, sys::FileSystem& files);

}  // namespace bunraku::config
