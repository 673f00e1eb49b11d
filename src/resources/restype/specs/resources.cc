// SPDX-License-Identifier: Apache-2.0
// The resource type resources.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr Attribute kAttributes[] = {
    {.name = "name", .doc = "The type to manage."},
    {.name = "purge",
     .doc = "Whether to remove unmanaged resources.",
     .values = "true|false|yes|no"},
    {.name = "unless_system_user",
     .doc = "Does not purge system users, or users up to an id.",
     .values = "true|false",
     .patterns = "/^\\d+$/"},
    {.name = "unless_uid", .doc = "Does not purge users with these ids."},
};

}  // namespace

extern const TypeSpec kResources = {
    .name = "resources",
    .doc = "Manages the resources of a type as a whole: purges those that are not in the catalog.",
    .attributes = kAttributes};

}  // namespace bunraku::restype
