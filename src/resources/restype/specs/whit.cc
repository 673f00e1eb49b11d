// SPDX-License-Identifier: Apache-2.0
// The resource type whit.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr Attribute kAttributes[] = {
    {.name = "name", .doc = "The name of the whit."},
};

}  // namespace

extern const TypeSpec kWhit = {.name = "whit",
                               .doc = "The entry or exit of a container in the relationship graph.",
                               .attributes = kAttributes};

}  // namespace bunraku::restype
