// The types and providers that are built in. The tables are made out of the files that there are
// (tools/list_providers.cmake): a new type is types/T/T.cc with a make_T, a new provider
// providers/T/P.cc with a provider_T_P; no list names them.
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
/// By name.
std::span<const BuiltInType> built_in_types();
/// A resource of the type of a name, not initialised: the built-in one, else that of a module's
/// Ruby, else one that says that no provider is suitable; null: nobody knows such a type.
std::unique_ptr<Resource> make_resource(Context& context, std::string_view type_name);

}  // namespace bunraku::apply
