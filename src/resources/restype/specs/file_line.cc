// The resource type file_line.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr Attribute kAttributes[] = {
    {.name = "ensure",
     .kind = AttributeKind::Property,
     .doc = "Whether the line should be there.",
     .values = "present|absent"},
    {.name = "line", .kind = AttributeKind::Property, .doc = "The line."},
    {.name = "name", .namevar = true, .doc = "A name for the resource."},
    {.name = "match", .doc = "A regular expression of the line to replace."},
    {.name = "match_for_absence",
     .doc = "Lets `match` choose the line to remove.",
     .values = "true|false"},
    {.name = "multiple", .doc = "Whether several lines may match.", .values = "true|false"},
    {.name = "after", .doc = "A regular expression of the line behind which a new line goes."},
    {.name = "path", .doc = "The file."},
    {.name = "replace", .doc = "Whether to replace a line that matches.", .values = "true|false"},
    {.name = "replace_all_matches_not_matching_line",
     .doc = "Replaces all matching lines even where the line is there.",
     .values = "true|false"},
    {.name = "encoding", .doc = "The encoding of the file."},
    {.name = "append_on_no_match",
     .doc = "Whether to add the line where nothing matches.",
     .values = "true|false"},
    {.name = "provider", .doc = "The backend for this resource."},
};

}  // namespace

extern const TypeSpec kFileLine = {
    .name = "file_line", .doc = "Makes sure that a file holds a line.", .attributes = kAttributes};

}  // namespace bunraku::restype
