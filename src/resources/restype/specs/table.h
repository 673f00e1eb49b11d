// SPDX-License-Identifier: Apache-2.0
// The native types, sorted by name.
#pragma once

#include "resources/restype/spec.h"

namespace bunraku::restype {

std::span<const TypeSpec* const> type_table();
/// Types of stdlib that are built in. They are valid only if the module is installed.
std::span<const TypeSpec* const> module_type_table();
/// Returns a type of a module that is built in for applying catalogs (apply/module_releases.h). A
/// compile reads the attributes of such a type from the module, except for the types of the table
/// above.
const TypeSpec* find_applied_type(std::string_view name);

}  // namespace bunraku::restype
