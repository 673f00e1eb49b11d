// SPDX-License-Identifier: Apache-2.0
// Marks compiles that could not query the store.
#pragma once

#include <string_view>

namespace bunraku::compiler {

/// Read::Opaque of a compile that failed because the store did not respond. Such a failure is not
/// evidence about the code.
inline constexpr std::string_view kStoreSilent = "the store did not answer";

}  // namespace bunraku::compiler
