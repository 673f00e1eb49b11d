// SPDX-License-Identifier: Apache-2.0
// The resource type group.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr Attribute kAttributes[] = {
    {.name = "ensure",
     .kind = AttributeKind::Property,
     .doc = "Whether the group should exist.",
     .values = "present|absent"},
    {.name = "gid", .kind = AttributeKind::Property, .doc = "The numeric group id."},
    {.name = "members",
     .kind = AttributeKind::Property,
     .doc = "The members of the group.",
     .array_matching_all = true,
     .feature = "manages_members"},
    {.name = "attributes",
     .kind = AttributeKind::Property,
     .doc = "Attributes of the group on AIX.",
     .feature = "manages_aix_lam"},
    {.name = "auth_membership",
     .doc = "Whether `members` is the whole list.",
     .values = "true|false|yes|no"},
    {.name = "name", .namevar = true, .doc = "The name of the group."},
    {.name = "allowdupe", .doc = "Whether the id may be shared.", .values = "true|false|yes|no"},
    {.name = "ia_load_module",
     .doc = "The I&A module to use on AIX.",
     .feature = "manages_aix_lam"},
    {.name = "attribute_membership",
     .doc = "Whether `attributes` is the whole list.",
     .values = "inclusive|minimum"},
    {.name = "system",
     .doc = "Whether to take an id from the range of system groups.",
     .values = "true|false|yes|no"},
    {.name = "forcelocal",
     .doc = "Forces the management of local groups.",
     .values = "true|false|yes|no",
     .feature = "manages_local_users_and_groups"},
    {.name = "provider", .doc = "The backend for this resource."},
};

}  // namespace

extern const TypeSpec kGroup = {
    .name = "group", .doc = "Manages groups.", .attributes = kAttributes};

}  // namespace bunraku::restype
