// SPDX-License-Identifier: Apache-2.0
// The type stage: a container with an order relative to other stages.
#include "resources/apply/registry.h"

namespace bunraku::apply {
namespace {

class Stage final : public Resource {
public:
    Stage(Context& context, const TypeSpec& spec) : Resource(context, spec) { kind_ = Kind::Stage; }
};

}  // namespace

std::unique_ptr<Resource> make_stage(Context& context, const TypeSpec& spec) {
    return std::make_unique<Stage>(context, spec);
}

}  // namespace bunraku::apply
