// SPDX-License-Identifier: Apache-2.0
// The resource type router.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr Attribute kAttributes[] = {
    {.name = "url", .namevar = true, .doc = "The URL of the router."},
};

}  // namespace

extern const TypeSpec kRouter = {
    .name = "router", .doc = "Manages connections to a router.", .attributes = kAttributes};

}  // namespace bunraku::restype
