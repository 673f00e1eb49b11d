// SPDX-License-Identifier: Apache-2.0
// The resource type filebucket.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr Attribute kAttributes[] = {
    {.name = "name", .namevar = true, .doc = "The name of the bucket."},
    {.name = "server", .doc = "The server that stores the contents; not used for a local bucket."},
    {.name = "port", .doc = "The port of that server."},
    {.name = "path", .doc = "The directory of a local bucket."},
};

}  // namespace

extern const TypeSpec kFilebucket = {.name = "filebucket",
                                     .doc = "Stores file contents by their digest.",
                                     .attributes = kAttributes};

}  // namespace bunraku::restype
