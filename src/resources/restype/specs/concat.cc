// SPDX-License-Identifier: Apache-2.0
// The resource types of the module concat.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr Attribute kOfFile[] = {
    {.name = "ensure",
     .kind = AttributeKind::Property,
     .doc = "Whether the file should exist.",
     .values = "present|absent"},
    {.name = "tag", .doc = "The tag of the fragments."},
    {.name = "path", .namevar = true, .doc = "The file."},
    {.name = "owner", .doc = "The file's owner."},
    {.name = "group", .doc = "The file's group."},
    {.name = "mode", .doc = "The file's mode."},
    {.name = "order", .doc = "How fragments are sorted.", .values = "alpha|numeric"},
    {.name = "backup", .doc = "Same as the parameter of the type file."},
    {.name = "replace", .doc = "Whether an existing file is replaced."},
    {.name = "validate_cmd", .doc = "Same as the parameter of the type file."},
    {.name = "ensure_newline", .doc = "Whether every fragment ends with a newline."},
    {.name = "create_empty_file", .doc = "Whether to create the file if there are no fragments."},
    {.name = "format",
     .doc = "The format of the fragments.",
     .values = "plain|yaml|json|json-array|json-pretty|json-array-pretty"},
    {.name = "force", .doc = "Whether later fragments may override the data of earlier ones."},
    {.name = "selinux_ignore_defaults", .doc = "Same as the parameter of the type file."},
    {.name = "selrange", .doc = "Same as the parameter of the type file."},
    {.name = "selrole", .doc = "Same as the parameter of the type file."},
    {.name = "seltype", .doc = "Same as the parameter of the type file."},
    {.name = "seluser", .doc = "Same as the parameter of the type file."},
    {.name = "show_diff", .doc = "Same as the parameter of the type file."},
};

constexpr Attribute kOfFragment[] = {
    {.name = "name", .namevar = true, .doc = "A name for the fragment."},
    {.name = "target", .doc = "The path or title of the file."},
    {.name = "content", .doc = "The content of the fragment."},
    {.name = "source", .doc = "The source of the content."},
    {.name = "order", .doc = "The position among the other fragments."},
    {.name = "tag", .doc = "The tag by which a file selects fragments."},
};

}  // namespace

extern const TypeSpec kConcatFile = {
    .name = "concat_file", .doc = "Assembles a file from fragments.", .attributes = kOfFile};
extern const TypeSpec kConcatFragment = {
    .name = "concat_fragment", .doc = "A fragment of a file.", .attributes = kOfFragment};

}  // namespace bunraku::restype
