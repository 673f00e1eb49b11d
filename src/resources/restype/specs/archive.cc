// SPDX-License-Identifier: Apache-2.0
// The resource type archive.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr std::string_view kYesNo = "true|false";

constexpr Attribute kAttributes[] = {
    {.name = "ensure",
     .kind = AttributeKind::Property,
     .doc = "Whether the file should exist.",
     .values = "present|absent"},
    {.name = "creates",
     .kind = AttributeKind::Property,
     .doc = "If this file exists, nothing is downloaded or extracted."},
    {.name = "path", .namevar = true, .doc = "The file."},
    {.name = "filename", .doc = "The name of the file, derived from its path."},
    {.name = "extract", .doc = "Whether to extract the file.", .values = kYesNo},
    {.name = "extract_path", .doc = "The folder to extract the file in."},
    {.name = "target", .doc = "An alias of extract_path."},
    {.name = "extract_command", .doc = "The extract command; %s is replaced by the file."},
    {.name = "temp_dir", .doc = "The folder to download to."},
    {.name = "extract_flags", .doc = "Flags of the extract command, instead of the default flags."},
    {.name = "cleanup",
     .doc = "Whether to remove the file after it is extracted.",
     .values = kYesNo},
    {.name = "source", .doc = "The location to download the file from."},
    {.name = "url", .doc = "An alias of source."},
    {.name = "cookie", .doc = "A cookie for the download."},
    {.name = "checksum", .doc = "The checksum of the file."},
    {.name = "digest_string", .doc = "An alias of checksum."},
    {.name = "checksum_url", .doc = "The location to download the checksum from."},
    {.name = "digest_url", .doc = "An alias of checksum_url."},
    {.name = "checksum_type",
     .doc = "The kind of the checksum.",
     .values = "none|md5|sha1|sha2|sha256|sha384|sha512"},
    {.name = "digest_type",
     .doc = "An alias of checksum_type.",
     .values = "none|md5|sha1|sha2|sha256|sha384|sha512"},
    {.name = "checksum_verify",
     .doc = "Whether to verify the checksum of the downloaded file.",
     .values = kYesNo},
    {.name = "username", .doc = "The user name for the source."},
    {.name = "password", .doc = "The password for the source."},
    {.name = "user", .doc = "The user to extract the file as."},
    {.name = "group", .doc = "The group to extract the file as."},
    {.name = "headers", .doc = "Additional headers of the request."},
    {.name = "proxy_type", .doc = "The kind of the proxy.", .values = "none|ftp|http|https"},
    {.name = "proxy_server", .doc = "The address of a proxy."},
    {.name = "allow_insecure", .doc = "Whether to accept invalid certificates."},
    {.name = "download_options", .doc = "Additional options of the download command."},
    {.name = "provider", .doc = "The backend for this resource."},
};

}  // namespace

extern const TypeSpec kArchive = {
    .name = "archive", .doc = "Downloads a file and extracts it.", .attributes = kAttributes};

}  // namespace bunraku::restype
