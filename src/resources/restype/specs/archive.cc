// The resource type archive.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr std::string_view kYesNo = "true|false";

constexpr Attribute kAttributes[] = {
    {.name = "ensure",
     .kind = AttributeKind::Property,
     .doc = "Whether the file should be there.",
     .values = "present|absent"},
    {.name = "creates",
     .kind = AttributeKind::Property,
     .doc = "Where this is there, nothing is downloaded or extracted."},
    {.name = "path", .namevar = true, .doc = "The file."},
    {.name = "filename", .doc = "The name of the file, which follows from its path."},
    {.name = "extract", .doc = "Whether to extract the file.", .values = kYesNo},
    {.name = "extract_path", .doc = "The folder to extract the file in."},
    {.name = "target", .doc = "Another name of extract_path."},
    {.name = "extract_command", .doc = "The command that extracts; %s stands for the file."},
    {.name = "temp_dir", .doc = "The folder to download to."},
    {.name = "extract_flags", .doc = "Flags of the command in place of the usual ones."},
    {.name = "cleanup",
     .doc = "Whether to remove the file when it is extracted.",
     .values = kYesNo},
    {.name = "source", .doc = "Where the file is taken from."},
    {.name = "url", .doc = "Another name of source."},
    {.name = "cookie", .doc = "A cookie for the download."},
    {.name = "checksum", .doc = "The checksum of the file."},
    {.name = "digest_string", .doc = "Another name of checksum."},
    {.name = "checksum_url", .doc = "Where the checksum is taken from."},
    {.name = "digest_url", .doc = "Another name of checksum_url."},
    {.name = "checksum_type",
     .doc = "The kind of the checksum.",
     .values = "none|md5|sha1|sha2|sha256|sha384|sha512"},
    {.name = "digest_type",
     .doc = "Another name of checksum_type.",
     .values = "none|md5|sha1|sha2|sha256|sha384|sha512"},
    {.name = "checksum_verify",
     .doc = "Whether to compare what was downloaded with the checksum.",
     .values = kYesNo},
    {.name = "username", .doc = "The user at the source."},
    {.name = "password", .doc = "The password at the source."},
    {.name = "user", .doc = "The user who extracts."},
    {.name = "group", .doc = "The group that extracts."},
    {.name = "headers", .doc = "Headers of the request."},
    {.name = "proxy_type", .doc = "The kind of the proxy.", .values = "none|ftp|http|https"},
    {.name = "proxy_server", .doc = "The address of a proxy."},
    {.name = "allow_insecure", .doc = "Whether a certificate may be wrong."},
    {.name = "download_options", .doc = "Further options of the command that downloads."},
    {.name = "provider", .doc = "The backend for this resource."},
};

}  // namespace

extern const TypeSpec kArchive = {
    .name = "archive", .doc = "Downloads a file and extracts it.", .attributes = kAttributes};

}  // namespace bunraku::restype
