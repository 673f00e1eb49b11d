// SPDX-License-Identifier: Apache-2.0
// The resource type component.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr Attribute kAttributes[] = {
    {.name = "name", .namevar = true, .doc = "The name of the component."},
};

}  // namespace

extern const TypeSpec kComponent = {.name = "component",
                                    .doc = "A class or an instance of a defined type, as applied.",
                                    .attributes = kAttributes};

}  // namespace bunraku::restype
