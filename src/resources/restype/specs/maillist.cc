// SPDX-License-Identifier: Apache-2.0
// The resource type maillist.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr Attribute kAttributes[] = {
    {.name = "ensure",
     .kind = AttributeKind::Property,
     .doc = "Whether the list should exist.",
     .values = "present|absent|purged"},
    {.name = "name", .namevar = true, .doc = "The name of the list."},
    {.name = "description", .doc = "A description of the list."},
    {.name = "password", .doc = "The password of the administrator."},
    {.name = "webserver", .doc = "The host of the web interface."},
    {.name = "mailserver", .doc = "The host of the list's mail."},
    {.name = "admin", .doc = "The address of the administrator."},
    {.name = "provider", .doc = "The backend for this resource."},
};

}  // namespace

extern const TypeSpec kMaillist = {
    .name = "maillist", .doc = "Manages mailing lists of Mailman.", .attributes = kAttributes};

}  // namespace bunraku::restype
