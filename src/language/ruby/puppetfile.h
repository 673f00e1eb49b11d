// Puppetfiles that are programs, read by a Ruby of their own that may do nothing but declare.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/base/result.h"
#include "core/sys/process.h"

namespace bunraku::ruby {

/// One word of a Puppetfile with its arguments: mod, forge, moduledir, exclusion, metadata.
struct Declaration {
    struct Argument {
        std::string key;  ///< empty: positional
        std::string text;
        enum class Kind : std::uint8_t { Text, Symbol, Constant } kind{};  ///< true, false, nil
    };
    std::string word;
    int line = 0;
    std::vector<Argument> arguments;
};

/// What the Puppetfile at `path`, whose text is given, declares in `environment`. It may read files
/// and variables of the environment; it cannot run programs, reach the network or change anything
/// (seccomp), nor take more than 20 s (10 s of a processor) or 2 GiB. The error is "line N: ..",
/// code ENOENT where there is no Ruby on this machine.
base::Result<std::vector<Declaration>> read_puppetfile(sys::Processes& processes,
                                                       const std::string& path,
                                                       std::string_view text,
                                                       const std::string& environment);

}  // namespace bunraku::ruby
