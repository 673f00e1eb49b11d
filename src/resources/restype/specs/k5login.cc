// SPDX-License-Identifier: Apache-2.0
// The resource type k5login.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr Attribute kAttributes[] = {
    {.name = "ensure",
     .kind = AttributeKind::Property,
     .doc = "Whether the file should exist.",
     .values = "present|absent"},
    {.name = "principals",
     .kind = AttributeKind::Property,
     .doc = "The principals.",
     .array_matching_all = true},
    {.name = "mode", .kind = AttributeKind::Property, .doc = "The permissions of the file."},
    {.name = "seluser",
     .kind = AttributeKind::Property,
     .doc = "The user part of the SELinux context."},
    {.name = "selrole",
     .kind = AttributeKind::Property,
     .doc = "The role part of the SELinux context."},
    {.name = "seltype",
     .kind = AttributeKind::Property,
     .doc = "The type part of the SELinux context."},
    {.name = "selrange",
     .kind = AttributeKind::Property,
     .doc = "The range part of the SELinux context."},
    {.name = "path", .namevar = true, .doc = "The path of the file."},
    {.name = "provider", .doc = "The backend for this resource."},
};

}  // namespace

extern const TypeSpec kK5login = {.name = "k5login",
                                  .doc = "Manages files of Kerberos principals that may log in.",
                                  .attributes = kAttributes};

}  // namespace bunraku::restype
