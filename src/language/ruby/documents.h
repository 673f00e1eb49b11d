// SPDX-License-Identifier: Apache-2.0
// Reads the documentation in Ruby files: definitions, comments and descriptions.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/sys/process.h"

namespace bunraku::ruby {

/// Returns the output of share/ruby/documents.rb for these files, as JSON. The files are parsed and
/// never run. The error has the code ENOENT if this machine has no Ruby. Relative paths refer to
/// `folder`.
base::Result<std::string> read_documents(sys::Processes& processes, const std::string& program,
                                         const std::string& folder,
                                         const std::vector<std::string>& files);

}  // namespace bunraku::ruby
