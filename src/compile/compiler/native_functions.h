// Where a function that modules bring, and that is here as well, may be answered without the
// module's Ruby.
#pragma once

#include <cstdint>
#include <string>

#include "language/environment/environment.h"
#include "language/function/stdlib_releases.h"

namespace bunraku::compiler {

/// When a function of this binary may answer in place of a module's.
enum class NativeSupport : std::uint8_t { Never, UsualArguments, Always };

/// Whether the function in this binary gives the answers of the module's own, `file`: the content
/// of what that is made of is one that was compared. `known`: what the table says of the function,
/// null where nothing. Files are read once for a state of the environment.
NativeSupport native_stands_for(const environment::Environment& environment,
                                const function::StdlibFunction* known, const std::string& file);

}  // namespace bunraku::compiler
