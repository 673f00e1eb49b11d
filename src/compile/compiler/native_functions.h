// SPDX-License-Identifier: Apache-2.0
// Decides whether a built-in function may replace the Ruby function of the same name in a module.
#pragma once

#include <cstdint>
#include <string>

#include "language/environment/environment.h"
#include "language/function/stdlib_releases.h"

namespace bunraku::compiler {

/// When a built-in function may replace the function of a module.
enum class NativeSupport : std::uint8_t { Never, UsualArguments, Always };

/// Reports whether the built-in function returns the same results as the module's function in
/// `file`. It does if the files of the module's function have the digest of a version that was
/// compared. `known` is the table entry of the function; null if it has none. Each file is read
/// once per state of the environment.
NativeSupport native_stands_for(const environment::Environment& environment,
                                const function::StdlibFunction* known, const std::string& file);

}  // namespace bunraku::compiler
