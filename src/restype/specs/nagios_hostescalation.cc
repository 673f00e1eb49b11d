// The resource type nagios_hostescalation.
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
    {.name = "host_name",
     .kind = AttributeKind::Property,
     .doc = "The directive `host_name` of the definition."},
    {.name = "hostgroup_name",
     .kind = AttributeKind::Property,
     .doc = "The directive `hostgroup_name` of the definition."},
    {.name = "contacts",
     .kind = AttributeKind::Property,
     .doc = "The directive `contacts` of the definition."},
    {.name = "contact_groups",
     .kind = AttributeKind::Property,
     .doc = "The directive `contact_groups` of the definition."},
    {.name = "first_notification",
     .kind = AttributeKind::Property,
     .doc = "The directive `first_notification` of the definition."},
    {.name = "last_notification",
     .kind = AttributeKind::Property,
     .doc = "The directive `last_notification` of the definition."},
    {.name = "notification_interval",
     .kind = AttributeKind::Property,
     .doc = "The directive `notification_interval` of the definition."},
    {.name = "escalation_period",
     .kind = AttributeKind::Property,
     .doc = "The directive `escalation_period` of the definition."},
    {.name = "escalation_options",
     .kind = AttributeKind::Property,
     .doc = "The directive `escalation_options` of the definition."},
    {.name = "register",
     .kind = AttributeKind::Property,
     .doc = "The directive `register` of the definition."},
    {.name = "target",
     .kind = AttributeKind::Property,
     .doc = "The file that holds the definitions."},
    {.name = "_naginator_name", .namevar = true, .doc = "The name of the definition."},
    {.name = "owner", .doc = "The owner of the file."},
    {.name = "group", .doc = "The group of the file."},
    {.name = "mode", .doc = "The mode of the file."},
    {.name = "provider", .doc = "The backend for this resource."},
};

}  // namespace

extern const TypeSpec kNagiosHostescalation = {
    .name = "nagios_hostescalation",
    .doc = "Manages a definition `hostescalation` of Nagios in a text file.",
    .attributes = kAttributes};

}  // namespace bunraku::restype
