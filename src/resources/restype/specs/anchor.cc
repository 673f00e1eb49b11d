// SPDX-License-Identifier: Apache-2.0
// The resource type anchor.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr Attribute kAttributes[] = {
    {.name = "name", .namevar = true, .doc = "The name of the anchor."},
};

}  // namespace

extern const TypeSpec kAnchor = {
    .name = "anchor",
    .doc = "A resource that does nothing and marks a point in the order.",
    .attributes = kAttributes};

}  // namespace bunraku::restype
