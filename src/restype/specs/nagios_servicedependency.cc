// The resource type nagios_servicedependency.
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
    {.name = "dependent_host_name",
     .kind = AttributeKind::Property,
     .doc = "The directive `dependent_host_name` of the definition."},
    {.name = "dependent_hostgroup_name",
     .kind = AttributeKind::Property,
     .doc = "The directive `dependent_hostgroup_name` of the definition."},
    {.name = "dependent_service_description",
     .kind = AttributeKind::Property,
     .doc = "The directive `dependent_service_description` of the definition."},
    {.name = "host_name",
     .kind = AttributeKind::Property,
     .doc = "The directive `host_name` of the definition."},
    {.name = "hostgroup_name",
     .kind = AttributeKind::Property,
     .doc = "The directive `hostgroup_name` of the definition."},
    {.name = "service_description",
     .kind = AttributeKind::Property,
     .doc = "The directive `service_description` of the definition."},
    {.name = "inherits_parent",
     .kind = AttributeKind::Property,
     .doc = "The directive `inherits_parent` of the definition."},
    {.name = "execution_failure_criteria",
     .kind = AttributeKind::Property,
     .doc = "The directive `execution_failure_criteria` of the definition."},
    {.name = "notification_failure_criteria",
     .kind = AttributeKind::Property,
     .doc = "The directive `notification_failure_criteria` of the definition."},
    {.name = "dependency_period",
     .kind = AttributeKind::Property,
     .doc = "The directive `dependency_period` of the definition."},
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

extern const TypeSpec kNagiosServicedependency = {
    .name = "nagios_servicedependency",
    .doc = "Manages a definition `servicedependency` of Nagios in a text file.",
    .attributes = kAttributes};

}  // namespace bunraku::restype
