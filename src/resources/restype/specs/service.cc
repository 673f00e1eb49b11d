// SPDX-License-Identifier: Apache-2.0
// The resource type service.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr Attribute kAttributes[] = {
    {.name = "ensure",
     .kind = AttributeKind::Property,
     .doc = "Whether the service should run.",
     .values = "stopped=false|running=true"},
    {.name = "enable",
     .kind = AttributeKind::Property,
     .doc = "Whether the service starts at boot.",
     .values = "true|false|manual|mask|delayed",
     .feature = "enableable"},
    {.name = "logonaccount",
     .kind = AttributeKind::Property,
     .doc = "The account the service runs as.",
     .feature = "manages_logon_credentials"},
    {.name = "flags",
     .kind = AttributeKind::Property,
     .doc = "Flags for the start of the service.",
     .feature = "flaggable"},
    {.name = "logonpassword",
     .doc = "The password of the account.",
     .feature = "manages_logon_credentials"},
    {.name = "binary", .doc = "The path of the daemon."},
    {.name = "hasstatus",
     .doc = "Whether the init script has a working status command.",
     .values = "true|false"},
    {.name = "name", .namevar = true, .doc = "The name of the service."},
    {.name = "path", .doc = "Where to look for init scripts."},
    {.name = "pattern",
     .doc = "What to look for in the process table when there is no status command."},
    {.name = "restart", .doc = "A command that restarts the service."},
    {.name = "start", .doc = "A command that starts the service."},
    {.name = "status", .doc = "A command that reports whether the service runs."},
    {.name = "stop", .doc = "A command that stops the service."},
    {.name = "control",
     .doc = "The control variable that starts and stops a service on some systems."},
    {.name = "hasrestart",
     .doc = "Whether the init script has a restart command.",
     .values = "true|false"},
    {.name = "manifest", .doc = "A command or path that installs a service definition."},
    {.name = "timeout",
     .doc = "Seconds to wait for a change of state.",
     .feature = "configurable_timeout"},
    {.name = "provider", .doc = "The backend for this resource."},
};

}  // namespace

extern const TypeSpec kService = {.name = "service",
                                  .doc = "Manages running services and whether they start at boot.",
                                  .attributes = kAttributes};

}  // namespace bunraku::restype
