// SPDX-License-Identifier: Apache-2.0
// The resource type alternatives.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr Attribute kAttributes[] = {
    {.name = "path", .kind = AttributeKind::Property, .doc = "The path of the program to select."},
    {.name = "mode",
     .kind = AttributeKind::Property,
     .doc = "Whether the best alternative is selected automatically.",
     .values = "auto|manual",
     .feature = "mode"},
    {.name = "name", .namevar = true, .doc = "The name of the alternative."},
    {.name = "provider", .doc = "The backend for this resource."},
};

}  // namespace

extern const TypeSpec kAlternatives = {
    .name = "alternatives", .doc = "Selects an alternative.", .attributes = kAttributes};

}  // namespace bunraku::restype
