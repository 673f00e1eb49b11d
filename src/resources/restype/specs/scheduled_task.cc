// SPDX-License-Identifier: Apache-2.0
// The resource type scheduled_task.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr Attribute kAttributes[] = {
    {.name = "ensure",
     .kind = AttributeKind::Property,
     .doc = "Whether the task should exist.",
     .values = "present|absent"},
    {.name = "enabled",
     .kind = AttributeKind::Property,
     .doc = "Whether the task is enabled.",
     .values = "true|false"},
    {.name = "description", .kind = AttributeKind::Property, .doc = "A description of the task."},
    {.name = "command", .kind = AttributeKind::Property, .doc = "The program to run."},
    {.name = "working_dir", .kind = AttributeKind::Property, .doc = "The directory to run it in."},
    {.name = "arguments", .kind = AttributeKind::Property, .doc = "Arguments of the program."},
    {.name = "user", .kind = AttributeKind::Property, .doc = "The account to run as."},
    {.name = "trigger", .kind = AttributeKind::Property, .doc = "When to run."},
    {.name = "compatibility",
     .kind = AttributeKind::Property,
     .doc = "The version of the scheduler."},
    {.name = "name", .namevar = true, .doc = "The name of the task."},
    {.name = "password", .doc = "The password of the account."},
    {.name = "provider", .doc = "The backend for this resource."},
};

}  // namespace

extern const TypeSpec kScheduledTask = {.name = "scheduled_task",
                                        .doc = "Manages scheduled tasks of Windows.",
                                        .attributes = kAttributes};

}  // namespace bunraku::restype
