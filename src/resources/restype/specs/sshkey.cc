// SPDX-License-Identifier: Apache-2.0
// The resource type sshkey.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr Attribute kAttributes[] = {
    {.name = "ensure",
     .kind = AttributeKind::Property,
     .doc = "Whether the key should exist.",
     .values = "present|absent"},
    {.name = "key", .kind = AttributeKind::Property, .doc = "The key itself, one long word."},
    {.name = "host_aliases", .kind = AttributeKind::Property, .doc = "Other names of the host."},
    {.name = "target", .kind = AttributeKind::Property, .doc = "The file that contains the keys."},
    {.name = "name", .namevar = true, .doc = "The name of the host."},
    {.name = "type",
     .namevar = true,
     .doc = "The kind of the key.",
     .values =
         "ssh-dss=dsa|ssh-ed25519=ed25519|ssh-rsa=rsa|ecdsa-sha2-nistp256|ecdsa-sha2-nistp384|"
         "ecdsa-sha2-nistp521|sk-ecdsa-sha2-nistp256@openssh.com|sk-ssh-ed25519@openssh.com"},
    {.name = "provider", .doc = "The backend for this resource."},
};

}  // namespace

extern const TypeSpec kSshkey = {.name = "sshkey",
                                 .doc = "Manages host keys in the known hosts file.",
                                 .attributes = kAttributes,
                                 .composite_namevar = true};

}  // namespace bunraku::restype
