// The resource type nagios_hostextinfo.
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
    {.name = "notes",
     .kind = AttributeKind::Property,
     .doc = "The directive `notes` of the definition."},
    {.name = "notes_url",
     .kind = AttributeKind::Property,
     .doc = "The directive `notes_url` of the definition."},
    {.name = "icon_image",
     .kind = AttributeKind::Property,
     .doc = "The directive `icon_image` of the definition."},
    {.name = "icon_image_alt",
     .kind = AttributeKind::Property,
     .doc = "The directive `icon_image_alt` of the definition."},
    {.name = "vrml_image",
     .kind = AttributeKind::Property,
     .doc = "The directive `vrml_image` of the definition."},
    {.name = "statusmap_image",
     .kind = AttributeKind::Property,
     .doc = "The directive `statusmap_image` of the definition."},
    {.name = "register",
     .kind = AttributeKind::Property,
     .doc = "The directive `register` of the definition."},
    {.name = "target",
     .kind = AttributeKind::Property,
     .doc = "The file that holds the definitions."},
    {.name = "host_name", .namevar = true, .doc = "The name of the definition."},
    {.name = "owner", .doc = "The owner of the file."},
    {.name = "group", .doc = "The group of the file."},
    {.name = "mode", .doc = "The mode of the file."},
    {.name = "provider", .doc = "The backend for this resource."},
};

}  // namespace

extern const TypeSpec kNagiosHostextinfo = {
    .name = "nagios_hostextinfo",
    .doc = "Manages a definition `hostextinfo` of Nagios in a text file.",
    .attributes = kAttributes};

}  // namespace bunraku::restype
