// What Ruby files say of themselves: definitions, their comments and descriptions.
#pragma once

#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/sys/process.h"

namespace bunraku::ruby {

/// The answer of share/ruby/documents.rb on these files: JSON. They are parsed and never run. The
/// error's code is ENOENT where there is no Ruby on this machine. `folder` is what relative paths
/// start from.
base::Result<std::string> read_documents(sys::Processes& processes, const std::string& program,
                                         const std::string& folder,
                                         const std::vector<std::string>& files);

}  // namespace bunraku::ruby
