// The resource types of the module concat.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr Attribute kOfFile[] = {
    {.name = "ensure",
     .kind = AttributeKind::Property,
     .doc = "Whether the file should be there.",
     .values = "present|absent"},
    {.name = "tag", .doc = "The tag of the fragments."},
    {.name = "path", .namevar = true, .doc = "The file."},
    {.name = "owner", .doc = "The file's owner."},
    {.name = "group", .doc = "The file's group."},
    {.name = "mode", .doc = "The file's mode."},
    {.name = "order", .doc = "How fragments are sorted.", .values = "alpha|numeric"},
    {.name = "backup", .doc = "As of a file."},
    {.name = "replace", .doc = "Whether a file that is there is replaced."},
    {.name = "validate_cmd", .doc = "As of a file."},
    {.name = "ensure_newline", .doc = "Whether every fragment ends a line."},
    {.name = "create_empty_file", .doc = "Whether there is a file without fragments."},
    {.name = "format",
     .doc = "What the fragments are.",
     .values = "plain|yaml|json|json-array|json-pretty|json-array-pretty"},
    {.name = "force", .doc = "Whether data of later fragments may replace that of others."},
    {.name = "selinux_ignore_defaults", .doc = "As of a file."},
    {.name = "selrange", .doc = "As of a file."},
    {.name = "selrole", .doc = "As of a file."},
    {.name = "seltype", .doc = "As of a file."},
    {.name = "seluser", .doc = "As of a file."},
    {.name = "show_diff", .doc = "As of a file."},
};

constexpr Attribute kOfFragment[] = {
    {.name = "name", .namevar = true, .doc = "A name for the fragment."},
    {.name = "target", .doc = "The path or title of the file."},
    {.name = "content", .doc = "What it says."},
    {.name = "source", .doc = "Where its content is."},
    {.name = "order", .doc = "Where it stands among the others."},
    {.name = "tag", .doc = "What a file may ask for."},
};

}  // namespace

extern const TypeSpec kConcatFile = {
    .name = "concat_file", .doc = "Puts a file together from fragments.", .attributes = kOfFile};
extern const TypeSpec kConcatFragment = {
    .name = "concat_fragment", .doc = "A part of a file.", .attributes = kOfFragment};

}  // namespace bunraku::restype
