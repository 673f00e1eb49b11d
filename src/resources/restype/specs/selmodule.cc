// SPDX-License-Identifier: Apache-2.0
// The resource type selmodule.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr Attribute kAttributes[] = {
    {.name = "ensure",
     .kind = AttributeKind::Property,
     .doc = "Whether the module should be loaded.",
     .values = "present|absent"},
    {.name = "syncversion",
     .kind = AttributeKind::Property,
     .doc = "Whether to reload the module when its version differs.",
     .values = "true|false"},
    {.name = "name", .namevar = true, .doc = "The name of the module."},
    {.name = "selmoduledir", .doc = "The directory of policy modules."},
    {.name = "selmodulepath", .doc = "The path of the policy module."},
    {.name = "provider", .doc = "The backend for this resource."},
};

}  // namespace

extern const TypeSpec kSelmodule = {
    .name = "selmodule", .doc = "Manages SELinux policy modules.", .attributes = kAttributes};

}  // namespace bunraku::restype
