// The native types in the order of their names.
#pragma once

#include "resources/restype/spec.h"

namespace bunraku::restype {

std::span<const TypeSpec* const> type_table();
/// Types that stdlib brings and that are known here as well; they count only where the module is
/// installed.
std::span<const TypeSpec* const> module_type_table();
/// A type of a module that is built in where types are applied (apply/module_releases.h). A compile
/// asks the module what its attributes are, but for those of the table above.
const TypeSpec* find_applied_type(std::string_view name);

}  // namespace bunraku::restype
