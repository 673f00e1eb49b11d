// SPDX-License-Identifier: Apache-2.0
// The resource type vlan.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr Attribute kAttributes[] = {
    {.name = "ensure",
     .kind = AttributeKind::Property,
     .doc = "Whether the VLAN should exist.",
     .values = "present|absent"},
    {.name = "description", .kind = AttributeKind::Property, .doc = "The name of the VLAN."},
    {.name = "name", .namevar = true, .doc = "The number of the VLAN."},
    {.name = "device_url", .doc = "The URL of the device."},
    {.name = "provider", .doc = "The backend for this resource."},
};

}  // namespace

extern const TypeSpec kVlan = {
    .name = "vlan", .doc = "Manages a VLAN of a switch.", .attributes = kAttributes};

}  // namespace bunraku::restype
