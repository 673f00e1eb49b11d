// A store that could not be asked.
#pragma once

#include <string_view>

namespace bunraku::compiler {

/// Read::Opaque of a compile that failed since the store did not answer: it says nothing of the
/// code.
inline constexpr std::string_view kStoreSilent = "the store did not answer";

}  // namespace bunraku::compiler
