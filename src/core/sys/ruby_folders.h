// SPDX-License-Identifier: Apache-2.0
// Folders outside modules in which Ruby, and therefore Puppet, finds plugins.
#pragma once

#include <string>
#include <vector>

#include "core/sys/file_system.h"

namespace bunraku::sys {

/// Returns the folders of Ruby's load path that hold plugins of Puppet or Facter, in its order:
/// those of RUBYLIB, Ruby's site and vendor folders, and the lib folders of gems. Leaves out
/// folders that hold Puppet itself, because Bunraku has its own types and functions.
std::vector<std::string> ruby_plugin_folders(FileSystem& files);

/// Does the same for the machine's disk, once per process.
const std::vector<std::string>& ruby_plugin_folders();

}  // namespace bunraku::sys
