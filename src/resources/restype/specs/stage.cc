// SPDX-License-Identifier: Apache-2.0
// The resource type stage.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr Attribute kAttributes[] = {
    {.name = "name", .doc = "The name of the stage."},
};

}  // namespace

extern const TypeSpec kStage = {
    .name = "stage",
    .doc = "A run stage: classes in it are applied together, in the order of stages.",
    .attributes = kAttributes};

}  // namespace bunraku::restype
