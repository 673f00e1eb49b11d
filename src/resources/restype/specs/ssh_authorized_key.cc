// SPDX-License-Identifier: Apache-2.0
// The resource type ssh_authorized_key.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr Attribute kAttributes[] = {
    {.name = "ensure",
     .kind = AttributeKind::Property,
     .doc = "Whether the key should exist.",
     .values = "present|absent"},
    {.name = "type",
     .kind = AttributeKind::Property,
     .doc = "The kind of the key.",
     .values = "ssh-dss=dsa|ssh-rsa=rsa|ecdsa-sha2-nistp256|ecdsa-sha2-nistp384|ecdsa-sha2-"
               "nistp521|ssh-ed25519=ed25519|sk-ecdsa-sha2-nistp256@openssh.com=ecdsa-sk|sk-ssh-"
               "ed25519@openssh.com=ed25519-sk|ssh-rsa-cert-v01@openssh.com|ssh-ed25519-cert-v01@"
               "openssh.com|ssh-dss-cert-v01@openssh.com|ecdsa-sha2-nistp256-cert-v01@openssh.com|"
               "ecdsa-sha2-nistp384-cert-v01@openssh.com|ecdsa-sha2-nistp521-cert-v01@openssh.com"},
    {.name = "key", .kind = AttributeKind::Property, .doc = "The key itself, one long word."},
    {.name = "user", .kind = AttributeKind::Property, .doc = "The account the key belongs to."},
    {.name = "target", .kind = AttributeKind::Property, .doc = "The file that contains the key."},
    {.name = "options",
     .kind = AttributeKind::Property,
     .doc = "Options before the key.",
     .array_matching_all = true},
    {.name = "name", .namevar = true, .doc = "The comment of the key."},
    {.name = "drop_privileges",
     .doc = "Whether to write as the user.",
     .values = "true|false|yes|no"},
    {.name = "provider", .doc = "The backend for this resource."},
};

}  // namespace

extern const TypeSpec kSshAuthorizedKey = {
    .name = "ssh_authorized_key",
    .doc = "Manages SSH keys that permit logging in to an account.",
    .attributes = kAttributes};

}  // namespace bunraku::restype
