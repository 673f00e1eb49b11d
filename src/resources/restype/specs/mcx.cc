// SPDX-License-Identifier: Apache-2.0
// The resource type mcx.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr Attribute kAttributes[] = {
    {.name = "ensure",
     .kind = AttributeKind::Property,
     .doc = "Whether the setting should exist.",
     .values = "present|absent"},
    {.name = "content",
     .kind = AttributeKind::Property,
     .doc = "The content as XML.",
     .feature = "manages_content"},
    {.name = "name", .namevar = true, .doc = "The name of the resource."},
    {.name = "ds_type",
     .doc = "The kind of the record.",
     .values = "user|group|computer|computerlist"},
    {.name = "ds_name", .doc = "The name of the record."},
    {.name = "provider", .doc = "The backend for this resource."},
};

}  // namespace

extern const TypeSpec kMcx = {
    .name = "mcx", .doc = "Manages MCX settings.", .attributes = kAttributes};

}  // namespace bunraku::restype
