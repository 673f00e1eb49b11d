// SPDX-License-Identifier: Apache-2.0
// The resource type tidy.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr Attribute kAttributes[] = {
    {.name = "path", .namevar = true, .doc = "The file or directory to tidy."},
    {.name = "recurse",
     .doc = "Whether to recurse, and how deep.",
     .values = "true|false|inf",
     .patterns = "/^[0-9]+$/"},
    {.name = "max_files",
     .doc = "The maximum number of entries of a recursion.",
     .patterns = "/^[0-9]+$/"},
    {.name = "matches", .doc = "Patterns of the names to remove."},
    {.name = "backup", .doc = "Whether to back files up before they are removed."},
    {.name = "age", .doc = "Removes files that are older: a number with s, m, h, d or w."},
    {.name = "size", .doc = "Removes files that are larger: a number with b, k, m, g or t."},
    {.name = "type", .doc = "The timestamp that `age` uses.", .values = "atime|mtime|ctime"},
    {.name = "rmdirs",
     .doc = "Whether empty directories are removed too.",
     .values = "true|false|yes|no"},
};

}  // namespace

extern const TypeSpec kTidy = {.name = "tidy",
                               .doc = "Removes files that are old, large or match a pattern.",
                               .attributes = kAttributes,
                               .isomorphic = false};

}  // namespace bunraku::restype
