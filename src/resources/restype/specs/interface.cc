// SPDX-License-Identifier: Apache-2.0
// The resource type interface.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr Attribute kAttributes[] = {
    {.name = "ensure",
     .kind = AttributeKind::Property,
     .doc = "Whether the interface is up.",
     .values = "present=no_shutdown|absent=shutdown"},
    {.name = "description", .kind = AttributeKind::Property, .doc = "A description."},
    {.name = "mode",
     .kind = AttributeKind::Property,
     .doc = "The mode of the port.",
     .values = "access|trunk|/dynamic"},
    {.name = "encapsulation",
     .kind = AttributeKind::Property,
     .doc = "The encapsulation of the trunk.",
     .values = "none|dot1q|isl|negotiate"},
    {.name = "access_vlan",
     .kind = AttributeKind::Property,
     .doc = "The VLAN in access mode.",
     .patterns = "/^\\d+/"},
    {.name = "native_vlan",
     .kind = AttributeKind::Property,
     .doc = "The untagged VLAN of a trunk.",
     .patterns = "/^\\d+/"},
    {.name = "allowed_trunk_vlans",
     .kind = AttributeKind::Property,
     .doc = "The VLANs of a trunk.",
     .values = "all"},
    {.name = "speed", .kind = AttributeKind::Property, .doc = "The speed.", .values = "auto"},
    {.name = "duplex",
     .kind = AttributeKind::Property,
     .doc = "The duplex mode.",
     .values = "auto|half|full"},
    {.name = "etherchannel", .kind = AttributeKind::Property, .doc = "The channel group."},
    {.name = "ipaddress", .kind = AttributeKind::Property, .doc = "The addresses."},
    {.name = "name", .namevar = true, .doc = "The name of the interface."},
    {.name = "device_url", .doc = "The URL of the device."},
    {.name = "provider", .doc = "The backend for this resource."},
};

}  // namespace

extern const TypeSpec kInterface = {.name = "interface",
                                    .doc = "Manages an interface of a network device.",
                                    .attributes = kAttributes};

}  // namespace bunraku::restype
