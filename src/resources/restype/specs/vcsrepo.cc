// SPDX-License-Identifier: Apache-2.0
// The resource type vcsrepo.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr std::string_view kTrueFalse = "true|false";

constexpr Attribute kAttributes[] = {
    {.name = "ensure",
     .kind = AttributeKind::Property,
     .doc = "The desired state of the folder: a working copy, a bare repository, a mirror, or "
            "nothing.",
     .values = "present|bare|mirror|absent|latest"},
    {.name = "source",
     .kind = AttributeKind::Property,
     .doc = "The URL of the repository; a hash specifies several remotes."},
    {.name = "revision",
     .kind = AttributeKind::Property,
     .doc = "The branch, tag or commit that should be checked out."},
    {.name = "includes", .kind = AttributeKind::Property, .doc = "The only paths to check out."},
    {.name = "module", .kind = AttributeKind::Property, .doc = "The module of the repository."},
    {.name = "skip_hooks",
     .kind = AttributeKind::Property,
     .doc = "Whether the repository's hooks are disabled.",
     .values = kTrueFalse},
    {.name = "path", .namevar = true, .doc = "The folder."},
    {.name = "fstype", .doc = "The kind of the file system."},
    {.name = "owner", .doc = "The user who owns the files."},
    {.name = "group", .doc = "The group that owns the files."},
    {.name = "user", .doc = "The user who runs the commands."},
    {.name = "excludes", .doc = "Paths to exclude from tracking."},
    {.name = "force", .doc = "Whether to remove existing files that conflict."},
    {.name = "compression", .doc = "The compression level."},
    {.name = "basic_auth_username", .doc = "The user name for the source."},
    {.name = "basic_auth_password", .doc = "The password for the source."},
    {.name = "identity", .doc = "The file of the SSH key."},
    {.name = "remote", .doc = "The remote to track."},
    {.name = "configuration", .doc = "The configuration folder."},
    {.name = "cvs_rsh", .doc = "The program that CVS uses to connect to its server."},
    {.name = "depth", .doc = "How many commits to fetch."},
    {.name = "branch", .doc = "The branch to clone."},
    {.name = "p4config", .doc = "The environment of Perforce."},
    {.name = "submodules", .doc = "Whether submodules are fetched.", .values = kTrueFalse},
    {.name = "conflict", .doc = "How to resolve conflicts."},
    {.name = "trust_server_cert",
     .doc = "Whether to accept any certificate of the server.",
     .values = kTrueFalse},
    {.name = "keep_local_changes",
     .doc = "Whether to preserve local changes of tracked files when the revision changes.",
     .values = kTrueFalse},
    {.name = "safe_directory",
     .doc = "Whether to mark the folder as safe for git.",
     .values = kTrueFalse},
    {.name = "umask", .doc = "The umask of the commands."},
    {.name = "http_proxy", .doc = "The proxy for the source."},
    {.name = "tmpdir", .doc = "The folder for temporary scripts."},
    {.name = "provider", .doc = "The backend for this resource."},
};

}  // namespace

extern const TypeSpec kVcsrepo = {.name = "vcsrepo",
                                  .doc = "Manages a working copy or a clone of a repository.",
                                  .attributes = kAttributes};

}  // namespace bunraku::restype
