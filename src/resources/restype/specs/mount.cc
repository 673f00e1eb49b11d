// SPDX-License-Identifier: Apache-2.0
// The resource type mount.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr Attribute kAttributes[] = {
    {.name = "ensure",
     .kind = AttributeKind::Property,
     .doc = "Whether the file system is listed, mounted, both or neither.",
     .values = "defined=present|unmounted|absent|mounted"},
    {.name = "device", .kind = AttributeKind::Property, .doc = "The device to mount."},
    {.name = "blockdevice", .kind = AttributeKind::Property, .doc = "The device to check."},
    {.name = "fstype", .kind = AttributeKind::Property, .doc = "The type of the file system."},
    {.name = "options",
     .kind = AttributeKind::Property,
     .doc = "Options of the mount, as in the table."},
    {.name = "pass",
     .kind = AttributeKind::Property,
     .doc = "The pass in which the file system is checked."},
    {.name = "atboot",
     .kind = AttributeKind::Property,
     .doc = "Whether to mount at boot.",
     .values = "true=yes|false=no"},
    {.name = "dump",
     .kind = AttributeKind::Property,
     .doc = "Whether to dump the file system.",
     .patterns = "/(0|1)/"},
    {.name = "target", .kind = AttributeKind::Property, .doc = "The file that contains the table."},
    {.name = "name", .namevar = true, .doc = "The mount point."},
    {.name = "remounts", .doc = "Whether the mount can be remounted.", .values = "true|false"},
    {.name = "provider", .doc = "The backend for this resource."},
};

}  // namespace

extern const TypeSpec kMount = {
    .name = "mount",
    .doc = "Manages mounted file systems and their entries in the table of file systems.",
    .attributes = kAttributes};

}  // namespace bunraku::restype
