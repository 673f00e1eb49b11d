// SPDX-License-Identifier: Apache-2.0
#include "services/rollout/json.h"

#include <fmt/format.h>

#include "core/codec/json_text.h"
#include "resources/catalog/wire_time.h"

namespace bunraku::rollout {

using catalog::format_wire_time;
using codec::json_string;

namespace {

template <class List, class Write>
std::string json_list(const List& list, Write&& write) {
    std::string out;
    for (const auto& each : list) {
        if (!out.empty()) out += ",\n ";
        out += write(each);
    }
    return "[" + out + "]";
}

/// Returns the members without the braces.
std::string row_members(const store::RolloutRow& row) {
    return fmt::format(
        R"("id":{},"environment":{},"from":{},"to":{},"state":{},"wave":{},"moved":{},)"
        R"("sequence":{},"epoch":{},"started":"{}","since":"{}","starter":{},"approved":{},)"
        R"("reason":{},"plan":{},"live":{})",
        row.id, json_string(row.environment), json_string(row.from), json_string(row.to),
        json_string(row.state), row.wave, row.moved, row.sequence, row.epoch,
        format_wire_time(row.started), format_wire_time(row.since), json_string(row.starter),
        row.approved, json_string(row.reason), json_string(row.plan), row.live);
}

}  // namespace

std::string rollout_json(const store::RolloutRow& row) { return "{" + row_members(row) + "}"; }

std::string status_json(const RolloutStatus& status) {
    std::string waves;
    for (std::size_t i = 0; i < status.waves.size(); ++i) {
        const WaveProgress& wave = status.waves[i];
        waves += fmt::format(R"({}{{"name":{},"nodes":{},"moved":{},"proved":{},"bad":{}}})",
                             i == 0 ? "" : ",", json_string(status.plan->waves[i]), wave.nodes,
                             wave.moved, wave.proved, wave.bad);
    }
    return fmt::format(R"({{{},"waiting":{},"waves":[{}]}})", row_members(status.row),
                       json_string(status.waiting), waves);
}

std::string members_json(const std::vector<store::RolloutMember>& members,
                         const ByText<store::NodeVersion>& nodes) {
    return json_list(members, [&](const store::RolloutMember& member) {
        const auto row = nodes.find(member.certname);
        return fmt::format(
            R"({{"node":{},"wave":{},"judged":{},"verdict":{},"detail":{},"proofs":{},"version":{}}})",
            json_string(member.certname), member.wave, member.judged, json_string(member.verdict),
            json_string(member.detail), member.proofs,
            row == nodes.end() ? "null" : json_string(row->second.version));
    });
}

std::string events_json(const std::vector<store::RolloutEvent>& events) {
    return json_list(events, [](const store::RolloutEvent& event) {
        return fmt::format(R"({{"number":{},"time":"{}","actor":{},"event":{},"detail":{}}})",
                           event.number, format_wire_time(event.time), json_string(event.actor),
                           json_string(event.what), event.detail);
    });
}

std::string leftovers_json(const std::vector<Leftover>& leftovers) {
    return json_list(leftovers, [](const Leftover& one) {
        return fmt::format(R"({{"node":{},"resource":{},"what":{},"created":{},"command":{}}})",
                           json_string(one.node), json_string(one.resource), json_string(one.what),
                           one.created, one.command.empty() ? "null" : json_string(one.command));
    });
}

std::string versions_json(const std::vector<DeployedVersion>& versions) {
    return json_list(versions, [](const DeployedVersion& one) {
        return fmt::format(R"({{"version":{},"commit":{},"files":{},"base":{}}})",
                           json_string(one.name), json_string(one.commit), json_string(one.files),
                           one.base);
    });
}

}  // namespace bunraku::rollout
