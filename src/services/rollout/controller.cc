// SPDX-License-Identifier: Apache-2.0
#include "services/rollout/controller.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "compile/insight/folded_names.h"
#include "core/base/assert.h"
#include "core/codec/json_text.h"
#include "services/rollout/controller_pass.h"
#include "store/engine/runs.h"

namespace bunraku::rollout {

using base::failure;
using base::Result;
using codec::json_string;
using store::RolloutRow;

namespace {

std::string event_json(const RolloutRow& row, std::string_view reason) {
    return fmt::format(R"({{"environment":{},"state":{},"wave":{},"reason":{}}})",
                       json_string(row.environment), json_string(row.state), row.wave,
                       json_string(reason));
}

/// Reports whether the command may change which version some node should have.
store::Targets targets_of(const Position& before, const Position& after, std::int64_t waves) {
    if (after.state == State::Done) return store::Targets::Finished;
    // A halted rollout moves no further node.
    if ((before.state == State::Halted) != (after.state == State::Halted))
        return store::Targets::Changed;
    for (std::int64_t wave = 0; wave < waves; ++wave)
        if (has_new_version(before, wave) != has_new_version(after, wave))
            return store::Targets::Changed;
    return is_closed(after.state) || after.state == State::Finishing ? store::Targets::Changed
                                                                     : store::Targets::Same;
}

std::int64_t wave_count(const Plan& plan) { return static_cast<std::int64_t>(plan.waves.size()); }

}  // namespace

Controller::Controller(ControllerOptions options)
    : options_(std::move(options)),
      watch_(options_.runtime),
      steps_(options_.runtime),
      outside_(options_.runtime.executor(
          {.threads = 4,
           .name = "rollouts outside",
           .error =
               [this](const std::string& what) { options_.log.log(base::Level::Err, what); }})),
      checks_(options_.system.processes, options_.runtime, *outside_, options_.get) {}

void Controller::stop() {
    checks_.stop();
    outside_->stop();
}

void Controller::set_problem(std::int64_t id, const std::string& problem) {
    const std::lock_guard lock(copies_mutex_);
    if (problem.empty()) {
        problems_.erase(id);
    } else {
        problems_[id] = problem;
    }
}

Result<std::int64_t> Controller::now() {
    auto db = BUNRAKU_TRY(options_.service->reader());
    return store::database_time(*db);
}

Result<std::shared_ptr<const Plan>> Controller::plan_of(store::Database& db,
                                                        const RolloutRow& row) {
    {
        const std::lock_guard lock(copies_mutex_);
        if (const auto known = plans_.find(row.plan); known != plans_.end()) return known->second;
    }
    const auto text = BUNRAKU_TRY(store::rollout_plan(db, row.plan));
    if (!text) return failure(fmt::format("The plan of rollout {} is missing", row.id));
    auto plan = std::make_shared<const Plan>(BUNRAKU_TRY(read_plan(*text)));
    const std::lock_guard lock(copies_mutex_);
    return plans_.emplace(row.plan, std::move(plan)).first->second;
}

Result<void> Controller::check_stale(const Plan& plan) const {
    const auto stale = [](std::string what) {
        return failure("The plan is stale: " + std::move(what), kStale);
    };
    const auto base = options_.deployed.base(plan.environment);
    if (!base) return failure(base.error().message, kInvalid);
    if (base->name != plan.from.version) {
        return stale(
            fmt::format("the environment has version {}, not {}", base->name, plan.from.version));
    }
    const auto to = options_.deployed.find(plan.environment, plan.to.version);
    if (!to) return failure(to.error().message, kInvalid);
    if (to->name == base->name) return failure("Both versions of the plan are the same", kInvalid);
    if (to->files != plan.to.files || base->files != plan.from.files)
        return stale("the files of a version have changed");
    if (BUNRAKU_TRY(options_.deployed.rules_text(*to)) != plan.rules_text)
        return stale("rollout.yaml has changed");
    auto db = BUNRAKU_TRY(options_.service->reader());
    for (const PlannedNode& node : plan.nodes) {
        if (plan.made == 0 || node.wave != 0 || !node.touched()) continue;
        const auto facts = BUNRAKU_TRY(changed_facts(*db, node.name, plan.made));
        if (!facts.empty()) {
            return stale(fmt::format("facts of the canary {} have changed: {}", node.name,
                                     fmt::join(facts, ", ")));
        }
    }
    // A few nodes may come and go.
    std::size_t unknown = 0, known = 0;
    const auto planned = [&](const std::string& name) {
        const auto at = std::ranges::lower_bound(plan.nodes, name, {}, &PlannedNode::name);
        return at != plan.nodes.end() && at->name == name;
    };
    const auto excluded = [&](const std::string& name) {
        return std::ranges::any_of(plan.excluded,
                                   [&](const auto& one) { return one.name == name; });
    };
    for (const store::NodeRow& node : BUNRAKU_TRY(store::active_nodes(*db)))
        ++(planned(node.certname) || excluded(node.certname) ? known : unknown);
    const std::size_t gone = plan.nodes.size() + plan.excluded.size() > known
                                 ? plan.nodes.size() + plan.excluded.size() - known
                                 : 0;
    const std::size_t allowed = std::max<std::size_t>(1, plan.nodes.size() / 100);
    if (unknown > allowed) return stale(fmt::format("there are {} new nodes", unknown));
    if (gone > allowed) return stale(fmt::format("{} nodes are gone", gone));
    return {};
}

Result<RolloutStatus> Controller::start(std::string_view plan_text, const Actor& actor) {
    auto plan = read_plan(plan_text);
    if (!plan) return failure(plan.error().message, kInvalid);
    RolloutRow row;
    {
        const std::lock_guard lock(mutex_);
        BUNRAKU_TRY_VOID(check_stale(*plan));
        row.environment = plan->environment;
        row.from = plan->from.version;
        row.to = plan->to.version;
        row.plan = plan_digest(plan_text);
        row.state = state_name(State::Waiting);
        row.started = row.since = BUNRAKU_TRY(now());
        row.starter = actor.name;
        row.reason = actor.reason;
        std::vector<store::RolloutMember> members;
        for (const PlannedNode& node : plan->nodes)
            members.push_back({.certname = node.name, .wave = node.wave, .judged = node.touched()});
        row.id = 0;
        BUNRAKU_TRY_VOID(options_.service->with_writer([&](store::Writer& writer) -> Result<void> {
            row.id = BUNRAKU_TRY(store::insert_rollout(writer, row, plan_text, members,
                                                       {.time = row.started,
                                                        .actor = actor.name,
                                                        .what = "start",
                                                        .detail = event_json(row, actor.reason)}));
            return {};
        }));
        options_.log.log(base::Level::Notice,
                         fmt::format("Rollout {} of environment {} to {} was started by {}", row.id,
                                     row.environment, row.to, actor.name));
        BUNRAKU_TRY_VOID(options_.versions->reload());
    }
    (void)tick();
    return status(row.id);
}

Result<std::optional<RolloutRow>> Controller::transition(const RolloutRow& row, const Plan& plan,
                                                         Command command, const Actor& actor) {
    const Position before = position_of(row);
    auto after = next(before, command, wave_count(plan));
    if (!after) return failure(after.error().message, kConflict);
    RolloutRow changed = row;
    set_position(changed, *after);
    changed.since = BUNRAKU_TRY(now());
    changed.reason = actor.reason;
    std::optional<RolloutRow> stored;
    BUNRAKU_TRY_VOID(options_.service->with_writer([&](store::Writer& writer) -> Result<void> {
        stored = BUNRAKU_TRY(store::change_rollout(writer, changed,
                                                   targets_of(before, *after, wave_count(plan)),
                                                   {.time = changed.since,
                                                    .actor = actor.name,
                                                    .what = std::string(command_name(command)),
                                                    .detail = event_json(changed, actor.reason)}));
        return {};
    }));
    BUNRAKU_TRY_VOID(options_.versions->reload());
    if (stored && !stored->live) checks_.forget(row.id);
    if (stored) {
        options_.log.log(after->state == State::Halted ? base::Level::Warning : base::Level::Notice,
                         fmt::format("Rollout {} of environment {} is {}, wave {}{}{}", row.id,
                                     row.environment, stored->state, stored->wave,
                                     actor.reason.empty() ? "" : ": ", actor.reason));
    }
    return stored;
}

Result<RolloutStatus> Controller::command(std::int64_t id, Command command, const Actor& actor,
                                          std::optional<std::int64_t> sequence) {
    {
        const std::lock_guard lock(mutex_);
        auto db = BUNRAKU_TRY(options_.service->reader());
        const auto row = BUNRAKU_TRY(store::find_rollout(*db, id));
        if (!row) return failure(fmt::format("There is no rollout {}", id), kNotFound);
        if (sequence && *sequence != row->sequence)
            return failure("The rollout has changed since", kConflict);
        const auto plan = BUNRAKU_TRY(plan_of(*db, *row));
        if (command == Command::Resume && row->state == "halted") {
            // The operator accepts what was bad so far.
            auto members = BUNRAKU_TRY(store::rollout_members(*db, id));
            std::erase_if(members, [](const auto& m) {
                return m.verdict.empty() || m.verdict == "proved" || m.verdict == "accepted";
            });
            for (auto& member : members) member.verdict = "accepted";
            BUNRAKU_TRY_VOID(options_.service->with_writer(
                [&](store::Writer& writer) { return store::set_verdicts(writer, id, members); }));
        }
        const auto stored = BUNRAKU_TRY(transition(*row, *plan, command, actor));
        if (!stored) return failure("The rollout has changed meanwhile", kConflict);
    }
    (void)tick();
    return status(id);
}

Result<RolloutStatus> Controller::approve(std::int64_t id, const Actor& actor,
                                          std::optional<std::int64_t> sequence) {
    {
        const std::lock_guard lock(mutex_);
        auto db = BUNRAKU_TRY(options_.service->reader());
        auto row = BUNRAKU_TRY(store::find_rollout(*db, id));
        if (!row) return failure(fmt::format("There is no rollout {}", id), kNotFound);
        if (sequence && *sequence != row->sequence)
            return failure("The rollout has changed since", kConflict);
        const auto plan = BUNRAKU_TRY(plan_of(*db, *row));
        if (!row->live || row->approved > row->wave)
            return failure("The rollout does not wait for an approval", kConflict);
        if (plan->rules.approve_by_another && actor.name == row->starter)
            return failure("Somebody else than who started the rollout must approve it",
                           kForbidden);
        row->approved = row->wave + 1;
        std::optional<RolloutRow> stored;
        BUNRAKU_TRY_VOID(options_.service->with_writer([&](store::Writer& writer) -> Result<void> {
            stored = BUNRAKU_TRY(
                store::change_rollout(writer, *row, store::Targets::Same,
                                      {.time = BUNRAKU_TRY(store::database_time(writer.db())),
                                       .actor = actor.name,
                                       .what = "approve",
                                       .detail = event_json(*row, actor.reason)}));
            return {};
        }));
        if (!stored) return failure("The rollout has changed meanwhile", kConflict);
        BUNRAKU_TRY_VOID(options_.versions->reload());
    }
    (void)tick();
    return status(id);
}

Result<std::vector<RolloutRow>> Controller::list(std::string_view environment, store::Which which) {
    auto db = BUNRAKU_TRY(options_.service->reader());
    return store::list_rollouts(*db, environment, which);
}

Result<RolloutStatus> Controller::status(std::int64_t id) {
    std::optional<RolloutRow> row;
    {
        auto db = BUNRAKU_TRY(options_.service->reader());
        row = BUNRAKU_TRY(store::find_rollout(*db, id));
    }
    if (!row) return failure(fmt::format("There is no rollout {}", id), kNotFound);
    return status(*row);
}

Result<RolloutStatus> Controller::status(const RolloutRow& row) {
    auto db = BUNRAKU_TRY(options_.service->reader());
    RolloutStatus out{.row = row, .plan = nullptr, .waves = {}, .waiting = {}};
    out.plan = BUNRAKU_TRY(plan_of(*db, row));
    out.waves.resize(out.plan->waves.size());
    const VersionTable table = options_.versions->table();
    const auto at = table.environments.find(row.environment);
    const auto has_moved = [&](const std::string& name) {
        if (at == table.environments.end()) return false;
        const auto node = at->second.nodes.find(name);
        return node != at->second.nodes.end() && node->second.version == row.to;
    };
    std::vector<std::string> awaited;
    for (const auto& member : BUNRAKU_TRY(store::rollout_members(*db, row.id))) {
        if (!member.judged || member.wave >= wave_count(*out.plan)) continue;
        WaveProgress& wave = out.waves[static_cast<std::size_t>(member.wave)];
        ++wave.nodes;
        const bool moved = has_moved(member.certname);
        if (moved) ++wave.moved;
        if (!moved && member.verdict.empty() && member.wave == row.wave)
            awaited.push_back(member.certname);
        if (member.verdict == "proved") ++wave.proved;
        if (is_bad_name(member.verdict)) ++wave.bad;
    }
    out.waiting = waiting_for(row, *out.plan, BUNRAKU_TRY(store::database_time(*db)));
    // A node that is switched off can hold a small wave. Operators see which one it is.
    if (position_of(row).state == State::Moving && !awaited.empty())
        out.waiting += "; not moved yet: " + insight::folded_names(std::move(awaited), 5);
    const std::lock_guard lock(copies_mutex_);
    const auto problem = problems_.find(row.id);
    if (row.live && problem != problems_.end()) out.waiting = "the store: " + problem->second;
    return out;
}

std::string Controller::waiting_for(const RolloutRow& row, const Plan& plan, std::int64_t now) {
    const State state = position_of(row).state;
    if (state == State::Soaking) {
        if (auto check = checks_.waiting(row.id, row.sequence); !check.empty()) return check;
        const std::int64_t left =
            std::max<std::int64_t>(0, plan.rules.soak_s - time_in_state(row, now, {}) / 1000);
        return left < 120 ? fmt::format("soaking, {} s left", left)
                          : fmt::format("soaking, {} min left", left / 60);
    }
    if (state == State::Moving) return "the nodes of the wave to be proved";
    if (state == State::Returning) return "the nodes to go back";
    if (state == State::Finishing) {
        const std::string missing = missing_version(row.environment, row.to);
        return missing.empty() ? "the servers to switch the environment" : missing;
    }
    if (state != State::Waiting) return {};
    if (plan.rules.needs_approval(row.wave) && row.approved <= row.wave)
        return fmt::format("an approval of wave {}", row.wave);
    if (!plan.rules.open_at(now / 1000)) return "a window of rollout.yaml";
    return awaited_server(row.environment, row.to);
}

std::int64_t Controller::time_in_state(const RolloutRow& row, std::int64_t now,
                                       std::vector<Outage> outages) const {
    const Silence silence{.last = row.since, .now = now, .outages = std::move(outages)};
    // After the database's clock stepped back, its time shows less than this server has watched.
    return std::max(silence.open_time(), watch_.unchanged(watched_rollout(row), {row.sequence, 0}));
}

std::string Controller::awaited_server(std::string_view environment,
                                       std::string_view version) const {
    const VersionTable table = options_.versions->table();
    for (const auto& server : table.servers)
        if (!table.knows(server, options_.versions->lease_clock(), Lease::Forward))
            return fmt::format("the server {}", server.server);
    return missing_version(environment, version);
}

std::string Controller::missing_version(std::string_view environment,
                                        std::string_view version) const {
    const auto server = server_without(environment, version);
    return server ? fmt::format("the version {} on the server {}", version, *server) : "";
}

std::optional<std::string> Controller::server_without(std::string_view environment,
                                                      std::string_view version) const {
    const auto own = options_.deployed.find(environment, version);
    if (!own || own->name != version) return options_.server;
    for (const auto& server : options_.versions->table().servers) {
        if (server.server == options_.server || server.forgotten) continue;
        // A server that was not seen for an hour does not serve nodes of the rollout.
        if (unseen_for(options_.versions->lease_clock(), server) > kForwardLease) continue;
        if (server.versions.find(json_string(version)) == std::string::npos) return server.server;
    }
    return std::nullopt;
}

}  // namespace bunraku::rollout
