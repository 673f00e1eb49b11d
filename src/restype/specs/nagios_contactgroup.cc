// The resource type nagios_contactgroup.
#include "restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr Attribute kAttributes[] = {
    {.name = "ensure",
     .kind = AttributeKind::Property,
     .doc = "Whether the definition should exist.",
     .values = "present|absent"},
    {.name = "use",
     .kind = AttributeKind::Property,
     .doc = "The directive `use` of the definition."},
    {.name = "alias",
     .kind = AttributeKind::Property,
     .doc = "The directive `alias` of the definition."},
    {.name = "members",
     .kind = AttributeKind::Property,
     .doc = "The directive `members` of the definition."},
    {.name = "contactgroup_members",
     .kind = AttributeKind::Property,
     .doc = "The directive `contactgroup_members` of the definition."},
    {.name = "register",
     .kind = AttributeKind::Property,
     .doc = "The directive `register` of the definition."},
    {.name = "target",
     .kind = AttributeKind::Property,
     .doc = "The file that holds the definitions."},
    {.name = "contactgroup_name", .namevar = true, .doc = "The name of the definition."},
    {.name = "owner", .doc = "The owner of the file."},
    {.name = "group", .doc = "The group of the file."},
    {.name = "mode", .doc = "The mode of the file."},
    {.name = "provider", .doc = "The backend for this resource."},
};

}  // namespace

extern const TypeSpec kNagiosContactgroup = {
    .name = "nagios_contactgroup",
    .doc = "Manages a definition `contactgroup` of Nagios in a text file.",
    .attributes = kAttributes};

}  // namespace bunraku::restype
