// The resource type router.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr Attribute kAttributes[] = {
    {.name = "url", .namevar = true, .doc = "How to reach the router."},
};

}  // namespace

extern const TypeSpec kRouter = {
    .name = "router", .doc = "Manages connections to a router.", .attributes = kAttributes};

}  // namespace bunraku::restype
