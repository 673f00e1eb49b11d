// SPDX-License-Identifier: Apache-2.0
// The resource type file.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr Attribute kAttributes[] = {
    {.name = "ensure",
     .kind = AttributeKind::Property,
     .doc = "The desired state of the path: `present` (anything), `absent`, `file`, `directory` or "
            "`link`. Any other text is taken as the target of a link.",
     .values = "absent=false|file|present|directory|link",
     .patterns = "/./"},
    {.name = "content",
     .kind = AttributeKind::Property,
     .doc = "The body of the file, as text. Cannot be combined with `source` or `target`."},
    {.name = "checksum_value",
     .kind = AttributeKind::Property,
     .doc = "The expected digest of the content, used with `checksum` to decide whether a download "
            "is needed."},
    {.name = "target",
     .kind = AttributeKind::Property,
     .doc = "Where a symbolic link points. Implies `ensure => link`.",
     .values = "notlink",
     .patterns = "/./"},
    {.name = "owner",
     .kind = AttributeKind::Property,
     .doc = "The user who owns the file: a name or a UID."},
    {.name = "group",
     .kind = AttributeKind::Property,
     .doc = "The group that owns the file: a name or a GID."},
    {.name = "mode",
     .kind = AttributeKind::Property,
     .doc =
         "The permissions as a string: octal digits ('0644') or symbolic clauses ('u=rw,go=r')."},
    {.name = "type",
     .kind = AttributeKind::Property,
     .doc = "The kind of the file as found. Read only."},
    {.name = "seluser",
     .kind = AttributeKind::Property,
     .doc = "The user part of the SELinux context."},
    {.name = "selrole",
     .kind = AttributeKind::Property,
     .doc = "The role part of the SELinux context."},
    {.name = "seltype",
     .kind = AttributeKind::Property,
     .doc = "The type part of the SELinux context."},
    {.name = "selrange",
     .kind = AttributeKind::Property,
     .doc = "The range part of the SELinux context."},
    {.name = "ctime",
     .kind = AttributeKind::Property,
     .doc = "When the inode changed last. Read only."},
    {.name = "mtime",
     .kind = AttributeKind::Property,
     .doc = "When the content changed last. Read only."},
    {.name = "path",
     .namevar = true,
     .doc = "The absolute path of the file. A trailing slash is dropped."},
    {.name = "backup",
     .doc = "Whether and where to keep the old content before it is replaced: `false`, a suffix "
            "that starts with a dot, or the name of a filebucket."},
    {.name = "recurse",
     .doc =
         "Whether to manage the contents of a directory: `true`, `false`, or `remote` for exactly "
         "what the source holds.",
     .values = "true|false|remote"},
    {.name = "recurselimit", .doc = "How many levels deep to go.", .patterns = "/^[0-9]+$/"},
    {.name = "max_files",
     .doc = "The maximum number of entries of a recursion; -1 means unlimited, 0 warns above a "
            "thousand.",
     .patterns = "/^[0-9]+$/, /^-1$/"},
    {.name = "replace",
     .doc = "Whether to change the content of an existing file.",
     .values = "true|false|yes|no"},
    {.name = "force",
     .doc = "Permits replacing a directory by something else, purging it or removing it.",
     .values = "true|false|yes|no"},
    {.name = "ignore", .doc = "Patterns of names that a recursion skips."},
    {.name = "links",
     .doc = "Whether symbolic links are followed or managed as links.",
     .values = "follow|manage"},
    {.name = "purge",
     .doc = "Removes unmanaged entries of a recursively managed directory.",
     .values = "true|false|yes|no"},
    {.name = "sourceselect",
     .doc = "With several sources: use the first that exists, or merge them all.",
     .values = "first|all"},
    {.name = "show_diff",
     .doc = "Whether differences of the content may be shown.",
     .values = "true|false|yes|no"},
    {.name = "staging_location",
     .doc = "A directory for the temporary file that is renamed over the target."},
    {.name = "validate_cmd",
     .doc = "A command that checks the new content before it replaces the old; `%` stands for the "
            "temporary file."},
    {.name = "validate_replacement",
     .doc = "The placeholder in `validate_cmd` for the path of the temporary file."},
    {.name = "provider", .doc = "The backend for this resource."},
    {.name = "checksum",
     .doc = "How contents are compared. With `etag`, a web server's strong entity tag is the "
            "digest if it looks like one.",
     .values = "sha256|sha256lite|md5|md5lite|sha1|sha1lite|sha512|sha384|sha224|mtime|ctime|none|"
               "etag"},
    {.name = "source",
     .doc = "Where to copy the content from: a local path, a `file:`, `puppet:` or `http(s):` URI, "
            "or a list of them."},
    {.name = "source_permissions",
     .doc = "Whether owner, group and mode of the source are copied.",
     .values = "use|use_when_creating|ignore"},
    {.name = "selinux_ignore_defaults",
     .doc = "Ignores the SELinux defaults of the system.",
     .values = "true|false"},
};

}  // namespace

extern const TypeSpec kFile = {
    .name = "file",
    .doc =
        "Manages files, directories and symbolic links: their content, ownership, permissions and "
        "SELinux context. Directories can be managed recursively, and what they contain besides "
        "the "
        "managed entries can be purged.",
    .attributes = kAttributes};

}  // namespace bunraku::restype
