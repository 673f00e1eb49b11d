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
     .doc = "Keeps system users, or users up to an id, from being purged.",
     .values = "true|false",
     .patterns = "/^\\d+$/"},
    {.name = "unless_uid", .doc = "Keeps users with these ids from being purged."},
};

}  // namespace

extern const TypeSpec kResources = {
    .name = "resources",
    .doc =
        "Manages the resources of a type as a whole: purges those that the catalog does not name.",
    .attributes = kAttributes};

}  // namespace bunraku::restype
