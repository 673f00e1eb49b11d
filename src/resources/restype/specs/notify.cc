// SPDX-License-Identifier: Apache-2.0
// The resource type notify.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr Attribute kAttributes[] = {
    {.name = "message",
     .kind = AttributeKind::Property,
     .doc = "The message; defaults to the title."},
    {.name = "withpath",
     .doc = "Whether to show the full path of the resource.",
     .values = "true|false"},
    {.name = "name", .namevar = true, .doc = "A name for the message."},
};

}  // namespace

extern const TypeSpec kNotify = {
    .name = "notify", .doc = "Sends a message to the log of the run.", .attributes = kAttributes};

}  // namespace bunraku::restype
