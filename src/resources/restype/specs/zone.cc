// SPDX-License-Identifier: Apache-2.0
// The resource type zone.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr Attribute kAttributes[] = {
    {.name = "ensure",
     .kind = AttributeKind::Property,
     .doc = "The state of the zone.",
     .values = "absent|configured|installed|running"},
    {.name = "ip", .kind = AttributeKind::Property, .doc = "The address of the zone."},
    {.name = "iptype",
     .kind = AttributeKind::Property,
     .doc = "How the zone shares the network.",
     .values = "shared|exclusive"},
    {.name = "autoboot",
     .kind = AttributeKind::Property,
     .doc = "Whether the zone starts at boot.",
     .values = "true|false"},
    {.name = "path", .kind = AttributeKind::Property, .doc = "The root of the zone's file system."},
    {.name = "pool", .kind = AttributeKind::Property, .doc = "The resource pool."},
    {.name = "shares", .kind = AttributeKind::Property, .doc = "CPU shares."},
    {.name = "dataset", .kind = AttributeKind::Property, .doc = "Delegated datasets."},
    {.name = "inherit",
     .kind = AttributeKind::Property,
     .doc = "Directories inherited from the global zone."},
    {.name = "name", .namevar = true, .doc = "The name of the zone."},
    {.name = "id", .doc = "The numeric id of the zone."},
    {.name = "clone", .doc = "The zone to copy."},
    {.name = "sysidcfg", .doc = "The text of the sysidcfg file."},
    {.name = "create_args", .doc = "Arguments of the creation."},
    {.name = "install_args", .doc = "Arguments of the installation."},
    {.name = "realhostname", .doc = "The real name of the host."},
    {.name = "provider", .doc = "The backend for this resource."},
};

}  // namespace

extern const TypeSpec kZone = {
    .name = "zone", .doc = "Manages Solaris zones.", .attributes = kAttributes};

}  // namespace bunraku::restype
