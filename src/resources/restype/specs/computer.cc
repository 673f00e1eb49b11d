// SPDX-License-Identifier: Apache-2.0
// The resource type computer.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr Attribute kAttributes[] = {
    {.name = "ensure",
     .kind = AttributeKind::Property,
     .doc = "Whether the record should exist.",
     .values = "present|absent"},
    {.name = "en_address", .kind = AttributeKind::Property, .doc = "The hardware address."},
    {.name = "ip_address", .kind = AttributeKind::Property, .doc = "The address."},
    {.name = "name", .namevar = true, .doc = "The name of the record."},
    {.name = "realname", .doc = "The long name."},
    {.name = "provider", .doc = "The backend for this resource."},
};

}  // namespace

extern const TypeSpec kComputer = {.name = "computer",
                                   .doc = "Manages computer records of a local directory service.",
                                   .attributes = kAttributes};

}  // namespace bunraku::restype
