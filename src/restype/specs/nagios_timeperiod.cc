// The resource type nagios_timeperiod.
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
    {.name = "sunday",
     .kind = AttributeKind::Property,
     .doc = "The directive `sunday` of the definition."},
    {.name = "monday",
     .kind = AttributeKind::Property,
     .doc = "The directive `monday` of the definition."},
    {.name = "tuesday",
     .kind = AttributeKind::Property,
     .doc = "The directive `tuesday` of the definition."},
    {.name = "wednesday",
     .kind = AttributeKind::Property,
     .doc = "The directive `wednesday` of the definition."},
    {.name = "thursday",
     .kind = AttributeKind::Property,
     .doc = "The directive `thursday` of the definition."},
    {.name = "friday",
     .kind = AttributeKind::Property,
     .doc = "The directive `friday` of the definition."},
    {.name = "saturday",
     .kind = AttributeKind::Property,
     .doc = "The directive `saturday` of the definition."},
    {.name = "exclude",
     .kind = AttributeKind::Property,
     .doc = "The directive `exclude` of the definition."},
    {.name = "register",
     .kind = AttributeKind::Property,
     .doc = "The directive `register` of the definition."},
    {.name = "target",
     .kind = AttributeKind::Property,
     .doc = "The file that holds the definitions."},
    {.name = "timeperiod_name", .namevar = true, .doc = "The name of the definition."},
    {.name = "owner", .doc = "The owner of the file."},
    {.name = "group", .doc = "The group of the file."},
    {.name = "mode", .doc = "The mode of the file."},
    {.name = "provider", .doc = "The backend for this resource."},
};

}  // namespace

extern const TypeSpec kNagiosTimeperiod = {
    .name = "nagios_timeperiod",
    .doc = "Manages a definition `timeperiod` of Nagios in a text file.",
    .attributes = kAttributes};

}  // namespace bunraku::restype
