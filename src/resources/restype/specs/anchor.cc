// The resource type anchor.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr Attribute kAttributes[] = {
    {.name = "name", .namevar = true, .doc = "The name of the anchor."},
};

}  // namespace

extern const TypeSpec kAnchor = {.name = "anchor",
                                 .doc = "A no-operation resource that marks a place in the order.",
                                 .attributes = kAttributes};

}  // namespace bunraku::restype
