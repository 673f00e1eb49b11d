// SPDX-License-Identifier: Apache-2.0
// Reads Puppetfiles that are programs, in a separate Ruby process that can only declare modules.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/sys/process.h"

namespace bunraku::ruby {

/// One statement of a Puppetfile with its arguments: mod, forge, moduledir, exclusion or metadata.
struct Declaration {
    struct Argument {
        std::string key;  ///< Empty for a positional argument.
        std::string text;
        /// Constant: true, false or nil.
        enum class Kind : std::uint8_t { Text, Symbol, Constant } kind{};
    };
    std::string word;
    int line = 0;
    std::vector<Argument> arguments;
};

/// Returns the declarations of the Puppetfile with the given path and text, in `environment`. The
/// program may read files and environment variables. It cannot run programs, use the network or
/// change anything (seccomp). It is limited to 20 s (10 s of processor time) and 2 GiB. The error
/// is "line N: ..", with the code ENOENT if this machine has no Ruby.
base::Result<std::vector<Declaration>> read_puppetfile(sys::Processes& processes,
                                                       const std::string& path,
                                                       std::string_view text,
                                                       const std::string& environment);

}  // namespace bunraku::ruby
