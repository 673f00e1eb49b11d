// The native types in the order of their names.
#pragma once

#include "restype/spec.h"

namespace bunraku::restype {

std::span<const TypeSpec* const> type_table();
/// Types that stdlib brings and that are known here as well; they count only where the module is
/// installed.
std::span<const TypeSpec* const> module_type_table();

}  // namespace bunraku::restype
