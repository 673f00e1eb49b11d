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

std::optional<std::string> VersionTable::target(std::string_view environment,
                                                std::string_view node) const {
    const auto at = environments.find(environment);
    if (at == environments.end()) return std::nullopt;
    const EnvironmentVersions& versions = at->second;
    const auto attempt = versions.tries.find(node);
    if (attempt != versions.tries.end()) return attempt->second.version;
    if (!versions.rollout) return std::nullopt;
    const auto wave = versions.rollout->waves->find(node);
    if (wave == versions.rollout->waves->end()) return std::nullopt;
    const store::RolloutRow& row = versions.rollout->row;
    const Position position = position_of(row);
    if (position.state == State::Halted) {
        const auto moved = versions.nodes.find(node);
        return moved == versions.nodes.end() ? row.from : moved->second.version;
    }
    return has_new_version(position, wave->second) ? row.to : row.from;
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

Lease VersionTable::lease(std::string_view environment, std::string_view node,
                          std::string_view target) const {
    const auto at = environments.find(environment);
    if (at == environments.end()) return Lease::Forward;
    const EnvironmentVersions& versions = at->second;
    if (versions.rollout)
        return target == versions.rollout->row.from ? Lease::Back : Lease::Forward;
    // After a try, the node returns. A row without a move contains the version from before a
    // rollout.
    const auto row = versions.nodes.find(node);
    const bool moved = row != versions.nodes.end() && row->second.version != row->second.previous;
    return moved && !versions.tries.contains(node) ? Lease::Back : Lease::Forward;
}

void observe_servers(LeaseClock& clock, const std::vector<store::RolloutServer>& servers) {
    for (const auto& server : servers) clock.observe(server.server, {server.epoch, server.seen});
}

std::int64_t unseen_for(const LeaseClock& clock, const store::RolloutServer& server) {
    return clock.unchanged(server.server, {server.epoch, server.seen});
}

bool VersionTable::knows(const store::RolloutServer& server, const LeaseClock& clock,
                         Lease lease) const {
    if (server.forgotten || server.epoch >= epoch) return true;
    // A server that does not know the node or the other servers has no lease that could end.
    const std::int64_t longest = lease == Lease::Forward ? kForwardLease : kBackLease;
    return server.epoch >= joined && unseen_for(clock, server) > longest;
}

bool VersionTable::known_by_all(const LeaseClock& clock, Lease lease) const {
    return std::ranges::all_of(
        servers, [&](const store::RolloutServer& server) { return knows(server, clock, lease); });
}

Result<VersionTable> read_table(Database& db, const VersionTable* earlier) {
    store::Transaction transaction = BUNRAKU_TRY(store::Transaction::begin_read(db));
    VersionTable out;
    const auto epochs = BUNRAKU_TRY(store::rollout_epochs(db));
    out.epoch = epochs.present;
    out.joined = epochs.joined;
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
