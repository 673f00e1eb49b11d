// SPDX-License-Identifier: Apache-2.0
// The resource type host.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr Attribute kAttributes[] = {
    {.name = "ensure",
     .kind = AttributeKind::Property,
     .doc = "Whether the entry should exist.",
     .values = "present|absent"},
    {.name = "ip", .kind = AttributeKind::Property, .doc = "The address of the host."},
    {.name = "host_aliases", .kind = AttributeKind::Property, .doc = "Other names of the host."},
    {.name = "comment", .kind = AttributeKind::Property, .doc = "A comment after the entry."},
    {.name = "target", .kind = AttributeKind::Property, .doc = "The file to manage."},
    {.name = "name", .namevar = true, .doc = "The name of the host."},
    {.name = "provider", .doc = "The backend for this resource."},
};

}  // namespace

extern const TypeSpec kHost = {
    .name = "host", .doc = "Manages entries of the hosts file.", .attributes = kAttributes};

}  // namespace bunraku::restype
