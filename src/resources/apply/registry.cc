// SPDX-License-Identifier: Apache-2.0
#include "resources/apply/registry.h"

#include <algorithm>

#include "core/base/assert.h"
#include "resources/apply/ruby_types.h"
#include "resources/restype/specs/table.h"

namespace bunraku::apply {
namespace {

/// A known type that Bunraku cannot manage.
class Unsupported final : public Resource {
public:
    using Resource::Resource;
};

const BuiltInType* built_in(std::string_view name) {
    const auto types = built_in_types();
    BUNRAKU_ASSERT([&] {
        static const bool sorted = std::ranges::is_sorted(types, {}, &BuiltInType::name);
        return sorted;
    }());
    const auto it =
        std::lower_bound(types.begin(), types.end(), name,
                         [](const BuiltInType& t, std::string_view n) { return t.name < n; });
    return it != types.end() && it->name == name ? &*it : nullptr;
}

}  // namespace

std::unique_ptr<Resource> make_resource(Context& context, const TypeSpec& spec) {
    if (const BuiltInType* type = built_in(spec.name)) return type->make(context, spec);
    return std::make_unique<Unsupported>(context, spec);
}

std::unique_ptr<Resource> make_resource(Context& context, std::string_view type_name) {
    const TypeSpec* spec = restype::find_type(type_name);
    if (!spec) spec = restype::find_applied_type(type_name);
    bool native = spec && built_in(type_name);
    if (const ModuleType* known = find_module_type_releases(type_name); known && context.ruby_types)
        native = native && context.ruby_types->level(*known).has_value();
    if (native) return make_resource(context, *spec);
    if (context.ruby_types)
        if (auto made = context.ruby_types->make(type_name)) return made;
    return spec ? std::make_unique<Unsupported>(context, *spec) : nullptr;
}

}  // namespace bunraku::apply
