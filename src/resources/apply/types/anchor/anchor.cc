// SPDX-License-Identifier: Apache-2.0
// stdlib's anchor: a point in the order of resources, which only propagates events.
#include "resources/apply/registry.h"

namespace bunraku::apply {
namespace {

class Anchor final : public Resource {
public:
    using Resource::Resource;
    bool needs_ensure_retrieved() const override { return false; }
    bool refreshable() const override { return true; }
};

}  // namespace

std::unique_ptr<Resource> make_anchor(Context& context, const TypeSpec& spec) {
    return std::make_unique<Anchor>(context, spec);
}

}  // namespace bunraku::apply
