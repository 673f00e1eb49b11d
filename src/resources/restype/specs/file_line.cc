// SPDX-License-Identifier: Apache-2.0
// The resource type file_line.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr Attribute kAttributes[] = {
    {.name = "ensure",
     .kind = AttributeKind::Property,
     .doc = "Whether the line should exist.",
     .values = "present|absent"},
    {.name = "line", .kind = AttributeKind::Property, .doc = "The line."},
    {.name = "name", .namevar = true, .doc = "A name for the resource."},
    {.name = "match", .doc = "A regular expression that matches the line to replace."},
    {.name = "match_for_absence",
     .doc = "Whether `match` selects the line to remove.",
     .values = "true|false"},
    {.name = "multiple", .doc = "Whether several lines may match.", .values = "true|false"},
    {.name = "after",
     .doc = "A regular expression that matches the line after which a new line is added."},
    {.name = "path", .doc = "The file."},
    {.name = "replace", .doc = "Whether to replace a line that matches.", .values = "true|false"},
    {.name = "replace_all_matches_not_matching_line",
     .doc = "Replaces all matching lines even if the line already exists.",
     .values = "true|false"},
    {.name = "encoding", .doc = "The encoding of the file."},
    {.name = "append_on_no_match",
     .doc = "Whether to add the line if nothing matches.",
     .values = "true|false"},
    {.name = "provider", .doc = "The backend for this resource."},
};

}  // namespace

extern const TypeSpec kFileLine = {
    .name = "file_line", .doc = "Ensures that a file contains a line.", .attributes = kAttributes};

}  // namespace bunraku::restype
