#include "apply/registry.h"

#include <algorithm>

namespace bunraku::apply {
namespace {

/// A type that is known, but that nothing here can manage.
class Unsupported final : public Resource {
public:
    using Resource::Resource;
};

}  // namespace

std::unique_ptr<Resource> make_resource(Context& context, const TypeSpec& spec) {
    const auto types = built_in_types();
    const auto it =
        std::lower_bound(types.begin(), types.end(), spec.name,
                         [](const BuiltInType& t, std::string_view n) { return t.name < n; });
    if (it != types.end() && it->name == spec.name) return it->make(context, spec);
    return std::make_unique<Unsupported>(context, spec);
}

}  // namespace bunraku::apply
