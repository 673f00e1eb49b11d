// The resource type vcsrepo.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr std::string_view kTrueFalse = "true|false";

constexpr Attribute kAttributes[] = {
    {.name = "ensure",
     .kind = AttributeKind::Property,
     .doc = "What the folder should be: a working copy, a bare repository, a mirror, or nothing.",
     .values = "present|bare|mirror|absent|latest"},
    {.name = "source",
     .kind = AttributeKind::Property,
     .doc = "Where the repository comes from; a hash names several remotes."},
    {.name = "revision",
     .kind = AttributeKind::Property,
     .doc = "The branch, tag or commit that should be checked out."},
    {.name = "includes", .kind = AttributeKind::Property, .doc = "The paths to check out alone."},
    {.name = "module", .kind = AttributeKind::Property, .doc = "The module of the repository."},
    {.name = "skip_hooks",
     .kind = AttributeKind::Property,
     .doc = "Whether the repository's hooks are left out.",
     .values = kTrueFalse},
    {.name = "path", .namevar = true, .doc = "The folder."},
    {.name = "fstype", .doc = "The kind of the file system."},
    {.name = "owner", .doc = "The user whom the files belong to."},
    {.name = "group", .doc = "The group that the files belong to."},
    {.name = "user", .doc = "The user who runs the commands."},
    {.name = "excludes", .doc = "Paths that the repository does not track."},
    {.name = "force", .doc = "Whether what stands in the way is removed."},
    {.name = "compression", .doc = "How much is compressed."},
    {.name = "basic_auth_username", .doc = "The user at the source."},
    {.name = "basic_auth_password", .doc = "The password at the source."},
    {.name = "identity", .doc = "The file of the SSH key."},
    {.name = "remote", .doc = "The remote that is followed."},
    {.name = "configuration", .doc = "The folder of the configuration."},
    {.name = "cvs_rsh", .doc = "The program by which CVS reaches its server."},
    {.name = "depth", .doc = "How many commits to fetch."},
    {.name = "branch", .doc = "The branch to clone."},
    {.name = "p4config", .doc = "The environment of Perforce."},
    {.name = "submodules", .doc = "Whether submodules are fetched.", .values = kTrueFalse},
    {.name = "conflict", .doc = "What to do about conflicts."},
    {.name = "trust_server_cert",
     .doc = "Whether any certificate of the server will do.",
     .values = kTrueFalse},
    {.name = "keep_local_changes",
     .doc = "Whether changes of tracked files are kept when the revision changes.",
     .values = kTrueFalse},
    {.name = "safe_directory",
     .doc = "Whether git is told that the folder is safe.",
     .values = kTrueFalse},
    {.name = "umask", .doc = "The umask of the commands."},
    {.name = "http_proxy", .doc = "The proxy for the source."},
    {.name = "tmpdir", .doc = "The folder for scripts that are needed on the way."},
    {.name = "provider", .doc = "The backend for this resource."},
};

}  // namespace

extern const TypeSpec kVcsrepo = {.name = "vcsrepo",
                                  .doc = "Keeps a working copy or a clone of a repository.",
                                  .attributes = kAttributes};

}  // namespace bunraku::restype
