// SPDX-License-Identifier: Apache-2.0
// The resource type cron.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr Attribute kAttributes[] = {
    {.name = "ensure",
     .kind = AttributeKind::Property,
     .doc = "Whether the entry should exist.",
     .values = "present|absent"},
    {.name = "command", .kind = AttributeKind::Property, .doc = "The command to run."},
    {.name = "special",
     .kind = AttributeKind::Property,
     .doc = "A special time such as `reboot` or `daily`."},
    {.name = "minute", .kind = AttributeKind::Property, .doc = "The minutes, 0 to 59."},
    {.name = "hour", .kind = AttributeKind::Property, .doc = "The hours, 0 to 23."},
    {.name = "weekday",
     .kind = AttributeKind::Property,
     .doc = "The days of the week, 0 to 7 or names."},
    {.name = "month", .kind = AttributeKind::Property, .doc = "The months, 1 to 12 or names."},
    {.name = "monthday", .kind = AttributeKind::Property, .doc = "The days of the month, 1 to 31."},
    {.name = "environment",
     .kind = AttributeKind::Property,
     .doc = "Environment settings before the entry."},
    {.name = "user", .kind = AttributeKind::Property, .doc = "The owner of the crontab."},
    {.name = "target",
     .kind = AttributeKind::Property,
     .doc = "The user whose crontab contains the entry."},
    {.name = "name",
     .namevar = true,
     .doc = "A name, which is stored as a comment in the crontab."},
    {.name = "provider", .doc = "The backend for this resource."},
};

}  // namespace

extern const TypeSpec kCron = {
    .name = "cron", .doc = "Manages entries of crontabs.", .attributes = kAttributes};

}  // namespace bunraku::restype
