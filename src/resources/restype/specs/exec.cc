// SPDX-License-Identifier: Apache-2.0
// The resource type exec.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr Attribute kAttributes[] = {
    {.name = "returns",
     .kind = AttributeKind::Property,
     .doc = "The exit status or statuses that mean success.",
     .array_matching_all = true},
    {.name = "command",
     .namevar = true,
     .doc = "The command line, or an array of program and arguments, to run."},
    {.name = "path", .doc = "Directories in which commands are searched."},
    {.name = "user", .doc = "The user to run the command as."},
    {.name = "group", .doc = "The group to run the command as."},
    {.name = "cwd", .doc = "The directory to run the command in."},
    {.name = "logoutput",
     .doc = "Whether output is logged: always, never, or when the command fails.",
     .values = "true|false|on_failure"},
    {.name = "refresh", .doc = "Another command to run when a refresh event arrives."},
    {.name = "environment", .doc = "Additional environment variables, each as `NAME=value`."},
    {.name = "umask", .doc = "The file mode creation mask of the command."},
    {.name = "timeout", .doc = "Seconds after which the command is killed; 0 means never."},
    {.name = "tries", .doc = "How often to try a failing command."},
    {.name = "try_sleep", .doc = "Seconds between two tries."},
    {.name = "refreshonly",
     .doc = "Run only when a refresh event arrives.",
     .values = "true|false"},
    {.name = "creates",
     .doc = "A file, or several, whose existence makes the command unnecessary."},
    {.name = "unless", .doc = "A command whose success makes the main command unnecessary."},
    {.name = "onlyif", .doc = "A command that must succeed before the main command runs."},
    {.name = "provider", .doc = "The backend for this resource."},
};

}  // namespace

extern const TypeSpec kExec = {
    .name = "exec",
    .doc =
        "Runs commands. A command should leave the same state when it runs again, or be guarded by "
        "`creates`, `onlyif`, `unless` or `refreshonly`.",
    .attributes = kAttributes,
    .isomorphic = false};

}  // namespace bunraku::restype
