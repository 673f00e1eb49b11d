// SPDX-License-Identifier: Apache-2.0
#include "services/rollout/outages.h"

#include <fmt/format.h>
#include <string_view>

#include "core/base/arena.h"
#include "core/codec/json_text.h"
#include "core/value/hash_access.h"
#include "core/value/rich_data.h"

namespace bunraku::rollout {

using base::Result;
using codec::json_string;

namespace {

constexpr std::string_view kEvent = "away";

}  // namespace

Result<std::vector<Outage>> read_outages(store::Database& db, std::int64_t rollout) {
    std::vector<Outage> out;
    for (const store::RolloutEvent& event : BUNRAKU_TRY(store::rollout_events(db, rollout))) {
        if (event.what != kEvent) continue;
        base::Arena arena;
        const auto detail = value::parse_json(arena, event.detail);
        const auto* from = detail ? value::at(*detail, "from") : nullptr;
        if (from && from->is_integer())
            out.push_back({.from = from->as_integer(), .until = event.time});
    }
    return out;
}

Result<void> add_outage(store::Writer& writer, const store::RolloutRow& row, const Outage& outage) {
    const auto reason = fmt::format("A server did not reach the store for {} minutes",
                                    (outage.until - outage.from) / 60'000);
    return store::add_rollout_event(
        writer,
        {.rollout = row.id,
         .time = outage.until,
         .actor = "controller",
         .what = std::string(kEvent),
         .detail = fmt::format(R"({{"environment":{},"state":{},"wave":{},"reason":{},"from":{}}})",
                               json_string(row.environment), json_string(row.state), row.wave,
                               json_string(reason), outage.from)});
}

}  // namespace bunraku::rollout
