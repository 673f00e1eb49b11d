// SPDX-License-Identifier: Apache-2.0
// The resource type schedule.
#include "resources/restype/specs/specs.h"

namespace bunraku::restype {
namespace {

constexpr Attribute kAttributes[] = {
    {.name = "name", .namevar = true, .doc = "The name of the schedule."},
    {.name = "range", .doc = "The hours in which resources may be applied."},
    {.name = "periodmatch",
     .doc = "Whether periods are compared by number or by distance.",
     .values = "number|distance"},
    {.name = "period",
     .doc = "How often resources are applied.",
     .values = "hourly|daily|weekly|monthly|never"},
    {.name = "repeat", .doc = "How often a resource may be applied in a period."},
    {.name = "weekday", .doc = "The days on which resources may be applied."},
};

}  // namespace

extern const TypeSpec kSchedule = {
    .name = "schedule", .doc = "Defines when resources may be applied.", .attributes = kAttributes};

}  // namespace bunraku::restype
