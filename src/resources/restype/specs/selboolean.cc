// SPDX-License-Identifier: Apache-2.0
// The resource type selboolean.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr Attribute kAttributes[] = {
    {.name = "value",
     .kind = AttributeKind::Property,
     .doc = "Whether the boolean is on.",
     .values = "on=true|off=false"},
    {.name = "name", .namevar = true, .doc = "The name of the boolean."},
    {.name = "persistent",
     .doc = "Whether the value persists across restarts.",
     .values = "true|false"},
    {.name = "provider", .doc = "The backend for this resource."},
};

}  // namespace

extern const TypeSpec kSelboolean = {
    .name = "selboolean", .doc = "Manages SELinux booleans.", .attributes = kAttributes};

}  // namespace bunraku::restype
