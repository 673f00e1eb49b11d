// SPDX-License-Identifier: Apache-2.0
// The resource type macauthorization.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr Attribute kAttributes[] = {
    {.name = "ensure",
     .kind = AttributeKind::Property,
     .doc = "Whether the entry should exist.",
     .values = "present|absent"},
    {.name = "auth_type",
     .kind = AttributeKind::Property,
     .doc = "A right or a rule.",
     .values = "right|rule"},
    {.name = "allow_root",
     .kind = AttributeKind::Property,
     .doc = "Whether root is always allowed.",
     .values = "true|false"},
    {.name = "authenticate_user",
     .kind = AttributeKind::Property,
     .doc = "Whether the user must authenticate.",
     .values = "true|false"},
    {.name = "auth_class",
     .kind = AttributeKind::Property,
     .doc = "The class of the entry.",
     .values = "user|evaluate-mechanisms|allow|deny|rule"},
    {.name = "comment", .kind = AttributeKind::Property, .doc = "A comment."},
    {.name = "group", .kind = AttributeKind::Property, .doc = "The group that may authenticate."},
    {.name = "k_of_n",
     .kind = AttributeKind::Property,
     .doc = "The number of subrules that must match."},
    {.name = "mechanisms",
     .kind = AttributeKind::Property,
     .doc = "Mechanisms, in order.",
     .array_matching_all = true},
    {.name = "rule",
     .kind = AttributeKind::Property,
     .doc = "The rules of a right.",
     .array_matching_all = true},
    {.name = "session_owner",
     .kind = AttributeKind::Property,
     .doc = "Whether the owner of the session is allowed.",
     .values = "true|false"},
    {.name = "shared",
     .kind = AttributeKind::Property,
     .doc = "Whether credentials are shared.",
     .values = "true|false"},
    {.name = "timeout", .kind = AttributeKind::Property, .doc = "How long credentials are valid."},
    {.name = "tries", .kind = AttributeKind::Property, .doc = "How often to try."},
    {.name = "name", .namevar = true, .doc = "The name of the entry."},
    {.name = "provider", .doc = "The backend for this resource."},
};

}  // namespace

extern const TypeSpec kMacauthorization = {.name = "macauthorization",
                                           .doc = "Manages the authorization database of macOS.",
                                           .attributes = kAttributes};

}  // namespace bunraku::restype
