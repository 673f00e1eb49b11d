// The resource type nagios_command.
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
    {.name = "command_line",
     .kind = AttributeKind::Property,
     .doc = "The directive `command_line` of the definition."},
    {.name = "poller_tag",
     .kind = AttributeKind::Property,
     .doc = "The directive `poller_tag` of the definition."},
    {.name = "target",
     .kind = AttributeKind::Property,
     .doc = "The file that holds the definitions."},
    {.name = "command_name", .namevar = true, .doc = "The name of the definition."},
    {.name = "owner", .doc = "The owner of the file."},
    {.name = "group", .doc = "The group of the file."},
    {.name = "mode", .doc = "The mode of the file."},
    {.name = "provider", .doc = "The backend for this resource."},
};

}  // namespace

extern const TypeSpec kNagiosCommand = {
    .name = "nagios_command",
    .doc = "Manages a definition `command` of Nagios in a text file.",
    .attributes = kAttributes};

}  // namespace bunraku::restype
