// SPDX-License-Identifier: Apache-2.0
// The resource type zpool.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr Attribute kAttributes[] = {
    {.name = "ensure",
     .kind = AttributeKind::Property,
     .doc = "Whether the pool should exist.",
     .values = "present|absent"},
    {.name = "disk",
     .kind = AttributeKind::Property,
     .doc = "The disks of the pool.",
     .array_matching_all = true},
    {.name = "mirror",
     .kind = AttributeKind::Property,
     .doc = "Disks that mirror each other.",
     .array_matching_all = true},
    {.name = "raidz",
     .kind = AttributeKind::Property,
     .doc = "Disks in a RAID-Z.",
     .array_matching_all = true},
    {.name = "spare",
     .kind = AttributeKind::Property,
     .doc = "Spare disks.",
     .array_matching_all = true},
    {.name = "log",
     .kind = AttributeKind::Property,
     .doc = "Disks for the intent log.",
     .array_matching_all = true},
    {.name = "cache",
     .kind = AttributeKind::Property,
     .doc = "Disks for the cache.",
     .array_matching_all = true},
    {.name = "ashift", .kind = AttributeKind::Property, .doc = "The alignment shift."},
    {.name = "autoexpand",
     .kind = AttributeKind::Property,
     .doc = "Whether the pool grows with its devices."},
    {.name = "failmode",
     .kind = AttributeKind::Property,
     .doc = "What happens when the pool fails."},
    {.name = "pool", .namevar = true, .doc = "The name of the pool."},
    {.name = "raid_parity", .doc = "The parity of the RAID."},
    {.name = "provider", .doc = "The backend for this resource."},
};

}  // namespace

extern const TypeSpec kZpool = {
    .name = "zpool", .doc = "Manages ZFS pools.", .attributes = kAttributes};

}  // namespace bunraku::restype
