// SPDX-License-Identifier: Apache-2.0
// The resource type augeas.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr Attribute kAttributes[] = {
    {.name = "returns",
     .kind = AttributeKind::Property,
     .doc = "The expected result of applying the changes."},
    {.name = "name", .namevar = true, .doc = "A name for the change."},
    {.name = "context", .doc = "The path that is prepended to relative paths."},
    {.name = "onlyif", .doc = "A test that must hold before changes are made."},
    {.name = "changes", .doc = "The commands to run."},
    {.name = "root", .doc = "The root of the file system to work on."},
    {.name = "load_path", .doc = "More directories of lenses."},
    {.name = "force", .doc = "Makes the changes even if nothing seems to differ."},
    {.name = "type_check", .doc = "Whether lenses are checked.", .values = "true|false"},
    {.name = "lens", .doc = "The lens for the file of `incl`."},
    {.name = "incl", .doc = "The file to load with `lens`."},
    {.name = "show_diff",
     .doc = "Whether differences may be shown.",
     .values = "true|false|yes|no"},
    {.name = "provider", .doc = "The backend for this resource."},
};

}  // namespace

extern const TypeSpec kAugeas = {.name = "augeas",
                                 .doc = "Changes configuration files through Augeas.",
                                 .attributes = kAttributes};

}  // namespace bunraku::restype
