// SPDX-License-Identifier: Apache-2.0
#include "services/rollout/version_table.h"

#include <algorithm>

#include "core/base/assert.h"

namespace bunraku::rollout {

using store::Database;
using store::Result;

namespace {

Result<std::shared_ptr<const MemberWaves>> read_waves(Database& db, std::int64_t id) {
    auto out = std::make_shared<MemberWaves>();
    for (auto& member : BUNRAKU_TRY(store::rollout_members(db, id)))
        out->emplace(std::move(member.certname), member.wave);
    return out;
}

std::shared_ptr<const MemberWaves> known_waves(const VersionTable* earlier,
                                               const store::RolloutRow& row) {
    if (!earlier) return nullptr;
    const auto at = earlier->environments.find(row.environment);
    if (at == earlier->environments.end() || !at->second.rollout) return nullptr;
    return at->second.rollout->row.id == row.id ? at->second.rollout->waves : nullptr;
}

}  // namespace

Position position_of(const store::RolloutRow& row) {
    return {.state = state_of(row.state).value_or(State::Halted),
            .wave = row.wave,
            .moved = row.moved,
            .resume = state_of(row.resume).value_or(State::Moving),
            .hold = row.hold};
}

void set_position(store::RolloutRow& row, const Position& position) {
    row.state = state_name(position.state);
    row.wave = position.wave;
    row.moved = position.moved;
    row.resume =
        position.state == State::Paused ? std::string(state_name(position.resume)) : std::string();
    row.hold = position.hold;
    row.live = !is_closed(position.state);
}

std::optional<std::string> VersionTable::target(std::string_view environment, std::string_view node,
                                                std::int64_t now_ms) const {
    const auto at = environments.find(environment);
    if (at == environments.end()) return std::nullopt;
    const EnvironmentVersions& versions = at->second;
    const auto attempt = versions.tries.find(node);
    if (attempt != versions.tries.end() && attempt->second.ends > now_ms)
        return attempt->second.version;
    if (!versions.rollout) return std::nullopt;
    const auto wave = versions.rollout->waves->find(node);
    if (wave == versions.rollout->waves->end()) return std::nullopt;
    const store::RolloutRow& row = versions.rollout->row;
    return has_new_version(position_of(row), wave->second) ? row.to : row.from;
}

std::vector<std::int64_t> ReturnedNodes::rollouts_of(std::string_view environment,
                                                     std::string_view node,
                                                     std::int64_t now_ms) const {
    const auto nodes = environments.find(environment);
    if (nodes == environments.end()) return {};
    const auto at = nodes->second.find(node);
    if (at == nodes->second.end() || at->second.until <= now_ms) return {};
    return at->second.rollouts;
}

bool VersionTable::known_by_all(std::int64_t now_ms, bool forward) const {
    const std::int64_t lease = forward ? kForwardLease : kBackLease;
    return std::ranges::all_of(servers, [&](const store::RolloutServer& server) {
        return server.forgotten || server.epoch >= epoch || now_ms - server.seen > lease;
    });
}

Result<VersionTable> read_table(Database& db, const VersionTable* earlier) {
    store::Transaction transaction = BUNRAKU_TRY(store::Transaction::begin_read(db));
    VersionTable out;
    out.epoch = BUNRAKU_TRY(store::rollout_epoch(db));
    for (auto& row : BUNRAKU_TRY(store::list_rollouts(db, "", store::Which::Live))) {
        auto waves = known_waves(earlier, row);
        if (!waves) waves = BUNRAKU_TRY(read_waves(db, row.id));
        auto& environment = out.environments[row.environment];
        BUNRAKU_ASSERT(!environment.rollout);
        environment.rollout = LiveRollout{.row = std::move(row), .waves = std::move(waves)};
    }
    for (auto& node : BUNRAKU_TRY(store::node_versions(db, ""))) {
        auto& nodes = out.environments[node.environment].nodes;
        std::string name = node.certname;
        nodes.emplace(std::move(name), std::move(node));
    }
    for (auto& attempt : BUNRAKU_TRY(store::node_tries(db))) {
        auto& tries = out.environments[attempt.environment].tries;
        std::string name = attempt.certname;
        tries.emplace(std::move(name), std::move(attempt));
    }
    out.servers = BUNRAKU_TRY(store::rollout_servers(db));
    BUNRAKU_TRY_VOID(transaction.commit());
    return out;
}

}  // namespace bunraku::rollout
