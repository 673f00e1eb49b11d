// SPDX-License-Identifier: Apache-2.0
// The built-in types and providers. The build generates the tables from the existing files
// (tools/list_providers.cmake). A new type is types/T/T.cc with a function make_T, and a new
// provider is providers/T/P.cc with provider_T_P; no list needs an entry.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "resources/apply/resource.h"

namespace bunraku::apply {

struct BuiltInType {
    std::string_view name;
    std::unique_ptr<Resource> (*make)(Context&, const TypeSpec&);
};
/// Sorted by name.
std::span<const BuiltInType> built_in_types();
/// Returns an uninitialised resource of a type. A built-in type takes precedence, then a module's
/// Ruby type. For any other known type, returns a resource that reports that no provider is
/// suitable. Returns null if the type is unknown.
std::unique_ptr<Resource> make_resource(Context& context, std::string_view type_name);

}  // namespace bunraku::apply
