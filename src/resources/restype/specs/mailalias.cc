// SPDX-License-Identifier: Apache-2.0
// The resource type mailalias.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr Attribute kAttributes[] = {
    {.name = "ensure",
     .kind = AttributeKind::Property,
     .doc = "Whether the alias should exist.",
     .values = "present|absent"},
    {.name = "recipient",
     .kind = AttributeKind::Property,
     .doc = "The recipients of mail for the alias.",
     .array_matching_all = true},
    {.name = "file", .kind = AttributeKind::Property, .doc = "A file that lists the recipients."},
    {.name = "target", .kind = AttributeKind::Property, .doc = "The file of aliases."},
    {.name = "name", .namevar = true, .doc = "The name of the alias."},
    {.name = "provider", .doc = "The backend for this resource."},
};

}  // namespace

extern const TypeSpec kMailalias = {.name = "mailalias",
                                    .doc = "Manages entries of the alias file of the mail system.",
                                    .attributes = kAttributes};

}  // namespace bunraku::restype
