// SPDX-License-Identifier: Apache-2.0
// The decisions of the controller.
#include "services/rollout/controller_pass.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

#include "core/base/assert.h"
#include "core/codec/json_text.h"
#include "services/rollout/evidence.h"
#include "services/rollout/leftovers.h"
#include "services/rollout/outages.h"

namespace bunraku::rollout {

using base::Result;
using store::RolloutMember;
using store::RolloutRow;

namespace {

const Actor kController{.name = "controller", .reason = {}};

const PlannedNode* planned_node(const Plan& plan, const std::string& name) {
    const auto at = std::ranges::lower_bound(plan.nodes, name, {}, &PlannedNode::name);
    return at != plan.nodes.end() && at->name == name ? &*at : nullptr;
}

}  // namespace

Result<bool> Controller::tick() {
    const std::lock_guard lock(mutex_);
    auto live = pass();
    if (!live) watch_.restart();
    return live;
}

Result<bool> Controller::pass() {
    BUNRAKU_TRY_VOID(options_.versions->reload());
    const std::int64_t time = BUNRAKU_TRY(now());
    std::vector<RolloutRow> rows;
    {
        auto db = BUNRAKU_TRY(options_.service->reader());
        rows = BUNRAKU_TRY(store::list_rollouts(*db, "", store::Which::Live));
    }
    (void)steps_.observe(time);
    BUNRAKU_TRY_VOID(record_outage(rows, time));
    BUNRAKU_TRY_VOID(end_tries(time));
    BUNRAKU_TRY_VOID(acknowledge(time));
    for (const RolloutRow& row : rows) {
        auto done = advance(row, time);
        set_problem(row.id, done ? std::string() : done.error().message);
        if (!done) {
            options_.log.log(base::Level::Err, fmt::format("Rollout {} cannot advance: {}", row.id,
                                                           done.error().message));
        }
    }
    // Transitions have changed targets, which nodes take once all servers know them.
    BUNRAKU_TRY_VOID(acknowledge(time));
    if (rows.empty()) {
        judged_.clear();
        known_runs_.clear();
        watch_.restart();
    }
    BUNRAKU_TRY_VOID(find_returned(time));
    BUNRAKU_TRY_VOID(clean(time));
    send_events_aside();
    return !rows.empty() || !options_.versions->table().environments.empty();
}

std::vector<Outage> Controller::servers_away(std::int64_t now) const {
    std::vector<Outage> out;
    for (const auto& server : options_.versions->table().servers) {
        if (server.forgotten || server.server == options_.server) continue;
        if (unseen_for(options_.versions->lease_clock(), server) > kLeastOutage)
            out.push_back({.from = server.seen, .until = now});
    }
    return out;
}

bool Controller::misses_reports() const {
    // If a server is unavailable for longer, its agents use another one or never report.
    return std::ranges::any_of(options_.versions->table().servers, [&](const auto& server) {
        const auto unseen = unseen_for(options_.versions->lease_clock(), server);
        return !server.forgotten && server.server != options_.server && unseen > kLeastOutage &&
               unseen <= kForwardLease;
    });
}

Result<void> Controller::record_outage(const std::vector<RolloutRow>& rows, std::int64_t now) {
    // If this server hung, was stopped or could not reach the store, reports to it did not arrive.
    std::int64_t seen = options_.versions->last_seen();
    for (const auto& server : options_.versions->table().servers)
        if (server.server == options_.server && !server.forgotten) seen = server.seen;
    if (misses_reports()) watch_.restart();
    // A clock that steps forward looks like an outage, too. The first server that sees the step
    // records it before it acknowledges the table, so that all servers exclude this time when they
    // judge.
    if (seen <= 0 || now - seen <= kLeastOutage) return {};
    watch_.restart();
    for (const RolloutRow& row : rows) {
        if (position_of(row).state == State::Finishing) continue;
        auto db = BUNRAKU_TRY(options_.service->reader());
        std::int64_t from = std::max(seen, row.started);
        for (const Outage& outage : BUNRAKU_TRY(read_outages(*db, row.id)))
            from = std::max(from, outage.until);
        if (now - from <= kLeastOutage) continue;
        BUNRAKU_TRY_VOID(options_.service->with_writer([&](store::Writer& writer) {
            return add_outage(writer, row, {.from = from, .until = now});
        }));
    }
    return {};
}

Result<void> Controller::advance(const RolloutRow& row, std::int64_t now) {
    // Some steps follow from each other, such as a halt and the return.
    constexpr int kMostSteps = 5;
    RolloutRow now_row = row;
    for (int step = 0; step < kMostSteps && now_row.live; ++step) {
        auto db = BUNRAKU_TRY(options_.service->reader());
        Pass pass{
            .db = *db,
            .row = now_row,
            .plan = BUNRAKU_TRY(plan_of(*db, now_row)),
            // Not read again: a step since record_outage() would look like silence.
            .times = {.now = now,
                      .base_since = options_.deployed.base_since(now_row.environment).value_or(0),
                      .outages = BUNRAKU_TRY(read_outages(*db, now_row.id)),
                      .rollouts = BUNRAKU_TRY(earlier_rollouts(*db, now_row))},
            .members = BUNRAKU_TRY(store::rollout_members(*db, now_row.id)),
            .runs = {},
            .nodes = {},
            .tries = {},
            .away = servers_away(now)};
        for (const auto& [id, name] : BUNRAKU_TRY(store::environment_names(*db)))
            if (name == now_row.environment) pass.environment = id;
        for (auto& node : BUNRAKU_TRY(store::active_nodes(*db)))
            pass.runs.emplace(std::move(node.certname), std::move(node.run));
        const VersionTable table = options_.versions->table();
        const auto at = table.environments.find(now_row.environment);
        if (at != table.environments.end()) {
            pass.nodes = at->second.nodes;
            pass.tries = at->second.tries;
        }
        watch_.observe(watched_rollout(now_row), {now_row.sequence, 0});
        BUNRAKU_TRY_VOID(judge_nodes(pass));
        std::string reason;
        const auto command = decide(pass, reason);
        if (!command) return {};
        Actor actor = kController;
        actor.reason = std::move(reason);
        const auto stored = BUNRAKU_TRY(transition(now_row, *pass.plan, *command, actor));
        if (!stored) return {};  // another server was faster
        now_row = *stored;
    }
    return {};
}

Result<std::optional<JudgedNode>> Controller::evidence(Pass& pass, const RolloutMember& member) {
    const auto* row = pass.moved(member.certname);
    const auto* planned = planned_node(*pass.plan, member.certname);
    if (!row || !planned) return std::nullopt;
    auto out = BUNRAKU_TRY(read_evidence(pass.db, *pass.plan, *planned, *row, pass.times,
                                         known_runs_[pass.row.environment]));
    out.outages = pass.silent_times();
    // If the clock of the agent was set back, the store takes an older report for the newest one.
    // Then the order of arrival counts.
    LeaseClock::State arrived(0, row->since);
    Silence silence{.last = row->since, .now = pass.times.now, .outages = out.outages};
    for (const JudgedRun& run : out.runs) {
        arrived.first = std::max(arrived.first, run.id);
        silence.last = std::max(silence.last, run.received);
    }
    const std::string key = watched_node(pass.row, member.certname) + "\narrived";
    watch_.observe(key, arrived);
    out.watched = std::min(watched_for(pass, member.certname, row->since),
                           std::max(watch_.unchanged(key, arrived), silence.open_time()));
    return out;
}

std::int64_t Controller::watched_for(const Pass& pass, const std::string& node,
                                     std::int64_t since) {
    // After an outage, a node has as much time as after its move.
    for (const Outage& outage : pass.times.outages) since = std::max(since, outage.until);
    const auto run = pass.runs.find(node);
    const LeaseClock::State state(run == pass.runs.end() ? 0 : run->second.id, since);
    const std::string key = watched_node(pass.row, node);
    watch_.observe(key, state);
    return watch_.unchanged(key, state);
}

Result<void> Controller::judge_nodes(Pass& pass) {
    const State state = position_of(pass.row).state;
    if (state == State::Returning || state == State::Finishing) return {};
    std::vector<RolloutMember> changed;
    for (RolloutMember& member : pass.members) {
        if (!member.judged || is_bad_name(member.verdict) || member.verdict == "accepted") continue;
        const auto* row = pass.moved(member.certname);
        if (!row) continue;
        const auto run = pass.runs.find(member.certname);
        const std::int64_t report = run == pass.runs.end() ? 0 : run->second.id;
        auto& seen = judged_[{pass.row.id, member.certname}];
        // The catalog of a canary is compared before its report comes.
        const bool early = member.wave == 0 && member.verdict.empty() && member.proofs == 0;
        const bool silent =
            member.verdict.empty() &&
            std::max(pass.times.now - row->since, watched_for(pass, member.certname, row->since)) >
                pass.rules().silent_after_s * 1000;
        if (seen == report + 1 && !early && !silent) continue;
        const auto node = BUNRAKU_TRY(evidence(pass, member));
        if (!node) continue;
        const Judgement judgement = judge(*node, pass.rules());
        seen = report + 1;
        const std::string verdict(verdict_name(judgement.verdict));
        if (verdict == member.verdict && judgement.proofs == member.proofs &&
            judgement.detail == member.detail)
            continue;
        if (verdict != member.verdict) {
            options_.counters
                .counter("bunraku_rollout_verdicts_total", "Verdicts about nodes of rollouts.",
                         {{"verdict", verdict}})
                .add();
        }
        member.verdict = verdict;
        member.detail = judgement.detail;
        member.proofs = judgement.proofs;
        changed.push_back(member);
    }
    return options_.service->with_writer(
        [&](store::Writer& writer) { return store::set_verdicts(writer, pass.row.id, changed); });
}

Result<bool> Controller::control_group_fails(Pass& pass) {
    std::int64_t failed = 0, nodes = 0, moved_failed = 0, moved_nodes = 0;
    for (const RolloutMember& member : pass.members) {
        if (!member.judged) continue;
        if (member.wave < pass.row.moved) {
            moved_nodes += member.proofs > 0 || !member.verdict.empty() ? 1 : 0;
            moved_failed += member.verdict == "failed" ? 1 : 0;
        } else if (!pass.moved(member.certname)) {  // a try gives the new version to others, too
            const auto run = pass.runs.find(member.certname);
            if (run == pass.runs.end() || run->second.received < pass.row.started) continue;
            ++nodes;
            if (run->second.status != store::RunStatus::Failed) continue;
            if (BUNRAKU_TRY(fails_newly(pass.db, member.certname, pass.row.started))) ++failed;
        }
    }
    return fleet_fails(failed, nodes, moved_failed, moved_nodes);
}

std::optional<Command> Controller::decide(Pass& pass, std::string& reason) {
    const Position position = position_of(pass.row);
    switch (position.state) {
        case State::Returning: return decide_returning(pass, reason);
        case State::Finishing: return decide_finishing(pass, reason);
        case State::Halted:
            if (!pass.rules().go_back || position.hold) return std::nullopt;
            reason = pass.row.reason;
            return Command::GoBack;
        case State::Done:
        case State::Returned: return std::nullopt;
        default: break;
    }
    Tally tally;
    const RolloutMember* worst = nullptr;
    for (const RolloutMember& member : pass.members) {
        if (!member.judged || member.wave >= position.moved) continue;
        const bool bad = is_bad_name(member.verdict);
        if (bad && !worst) worst = &member;
        if (member.wave == 0) {
            tally.canaries_bad += bad ? 1 : 0;
        } else {
            tally.later_bad += bad ? 1 : 0;
            tally.later_judged += bad || member.proofs > 0 ? 1 : 0;
        }
    }
    if (too_many_bad(tally, pass.rules())) {
        BUNRAKU_ASSERT(worst);
        return stop_for(pass, *worst, reason);
    }
    if (position.moved > 0) {
        if (const auto server = server_without(pass.row.environment, pass.row.to)) {
            reason = fmt::format("The version {} does not exist any more on the server {}",
                                 pass.row.to, *server);
            return Command::Threshold;
        }
    }
    const auto base = options_.deployed.base(pass.row.environment);
    if (base && base->name != pass.row.from && position.state != State::Paused) {
        reason =
            fmt::format("The environment was switched to {} outside of the rollout", base->name);
        return Command::Pause;
    }
    if (position.state == State::Waiting)
        return waiting_for(pass.row, *pass.plan, pass.times.now).empty()
                   ? std::optional(Command::Ready)
                   : std::nullopt;
    if (position.state == State::Moving) return decide_moving(pass, reason);
    if (position.state == State::Soaking) return decide_soaking(pass, reason);
    return std::nullopt;
}

std::optional<Command> Controller::stop_for(Pass& pass, const RolloutMember& worst,
                                            std::string& reason) {
    reason = fmt::format("{}: {} ({})", worst.certname, worst.detail, worst.verdict);
    const auto fleet = control_group_fails(pass);
    if (!fleet || !*fleet) return Command::Threshold;
    if (position_of(pass.row).state == State::Paused) return std::nullopt;
    reason = "Nodes with the previous version fail, too: " + reason;
    return Command::Pause;
}

std::optional<Command> Controller::decide_moving(Pass& pass, std::string& reason) {
    std::int64_t nodes = 0, judged = 0, bad = 0;
    const RolloutMember* worst = nullptr;
    bool any = false;
    for (const RolloutMember& member : pass.members) {
        if (!member.judged || member.wave != pass.row.wave) continue;
        any = true;
        if (member.verdict.empty() && pass.is_absent(member.certname)) continue;
        ++nodes;
        // Nodes that the thresholds tolerate, or that an operator accepted, do not block a wave.
        judged += member.verdict.empty() ? 0 : 1;
        if (!is_bad_name(member.verdict)) continue;
        ++bad;
        if (!worst) worst = &member;
    }
    if (any && nodes == 0) return std::nullopt;  // no node is left that could prove the change
    const auto needed = static_cast<std::int64_t>(
        std::ceil(pass.rules().proved * static_cast<double>(nodes) - 1e-9));
    if (judged < needed) return std::nullopt;
    if (worst && most_are_bad(bad, judged, pass.rules())) return stop_for(pass, *worst, reason);
    reason = fmt::format("{} of {} nodes are proved", judged - bad, nodes);
    return Command::Proved;
}

WaveCheck Controller::check_of(const Pass& pass) const {
    return {.rollout = pass.row.id,
            .sequence = pass.row.sequence,
            .check = pass.rules().check,
            .environment = pass.row.environment,
            .version = pass.row.to,
            .wave = pass.row.wave};
}

std::optional<Command> Controller::decide_soaking(Pass& pass, std::string& reason) {
    const bool any = std::ranges::any_of(pass.members, [&](const RolloutMember& member) {
        return member.judged && member.wave == pass.row.wave;
    });
    if (any &&
        time_in_state(pass.row, pass.times.now, pass.times.outages) < pass.rules().soak_s * 1000)
        return std::nullopt;
    const auto checked = checks_.result(check_of(pass));
    // Without an answer, the rollout waits.
    if (!checked || checked->answer == CheckAnswer::None) return std::nullopt;
    if (checked->answer == CheckAnswer::Bad && !pass.rules().observe) {
        reason = checked->detail;
        return Command::Threshold;
    }
    return Command::Soaked;
}

std::optional<Command> Controller::decide_returning(Pass& pass, std::string& reason) {
    std::int64_t lost = 0, awaited = 0;
    for (const RolloutMember& member : pass.members) {
        const auto* row = pass.moved(member.certname);
        if (!row) continue;
        // Its next run in this environment begins with the previous version.
        if (pass.runs_elsewhere(member.certname)) continue;
        // An operator has given it the new version.
        const auto attempt = pass.tries.find(member.certname);
        if (attempt != pass.tries.end() && attempt->second.version == pass.row.to) continue;
        // An agent that the new version has killed cannot return.
        const auto run = pass.runs.find(member.certname);
        Silence silence{.now = pass.times.now,
                        .watched = watched_for(pass, member.certname, pass.row.since)};
        silence.outages = pass.silent_times();
        silence.last = std::max(
            {row->since, pass.row.since, run == pass.runs.end() ? 0 : run->second.received});
        // The loop goes on, so that all nodes are watched.
        const bool silent = silence.longer_than(2 * pass.rules().silent_after_s * 1000);
        ++(silent ? lost : awaited);
    }
    if (awaited > 0) return std::nullopt;
    reason = lost == 0
                 ? "All nodes have the previous version"
                 : fmt::format("{} nodes do not run any more and still have the new version", lost);
    return Command::Settled;
}

std::optional<Command> Controller::decide_finishing(Pass& pass, std::string& reason) {
    if (auto done = use(pass.row.environment, pass.row.to); !done) {
        options_.log.log(base::Level::Err, done.error().message);
        return std::nullopt;
    }
    // Other servers acknowledge the epoch after they have switched their own environment.
    if (auto done = acknowledge(pass.times.now); !done) return std::nullopt;
    if (!options_.versions->reload()) return std::nullopt;
    if (!options_.versions->table().known_by_all(options_.versions->lease_clock(), Lease::Forward))
        return std::nullopt;
    reason = "All servers have switched";
    return Command::Switched;
}

Result<void> Controller::acknowledge(std::int64_t now) {
    const VersionTable table = options_.versions->table();
    constexpr std::chrono::seconds kSeenPause{30};
    const auto begun = options_.runtime.now();
    const bool known =
        acknowledged_ == table.epoch && acknowledged_at_ && begun - *acknowledged_at_ < kSeenPause;
    const bool alone = options_.service->backend() == store::Backend::Sqlite;
    if (known || (alone && table.environments.empty())) {
        if (known) options_.versions->renew_leases();
        return {};
    }
    if (!options_.versions->is_marked())
        return base::failure("The file 'rollouts' in the folder of the state cannot be written");
    for (const auto& [name, versions] : table.environments) {
        if (!versions.rollout || versions.rollout->row.state != "finishing") continue;
        // Without the new version, this server must not say that it has switched.
        BUNRAKU_TRY_VOID(use(name, versions.rollout->row.to));
    }
    BUNRAKU_TRY_VOID(use_finished(table));
    std::string json;
    for (const std::string& name : options_.deployed.environments()) {
        std::string list;
        for (const auto& version :
             options_.deployed.versions(name).value_or(std::vector<DeployedVersion>()))
            list += (list.empty() ? "" : ",") + codec::json_string(version.name);
        json += fmt::format("{}{}:[{}]", json.empty() ? "" : ",", codec::json_string(name), list);
    }
    BUNRAKU_TRY_VOID(options_.service->with_writer([&](store::Writer& writer) {
        return store::acknowledge_epoch(writer, {.server = options_.server,
                                                 .epoch = table.epoch,
                                                 .seen = now,
                                                 .versions = "{" + json + "}"});
    }));
    acknowledged_ = table.epoch;
    acknowledged_at_ = begun;
    // A change since the table was read is known now, too.
    BUNRAKU_TRY_VOID(options_.versions->reload());
    options_.versions->renew_leases();
    return {};
}

Result<void> Controller::use(const std::string& environment, const std::string& version) {
    const auto base = options_.deployed.base(environment);
    if (base && base->name == version) return {};
    BUNRAKU_TRY_VOID(options_.versions->move_base(environment, version));
    return options_.deployed.use(environment, version);
}

Result<void> Controller::use_finished(const VersionTable& table) {
    const auto own =
        std::ranges::find(table.servers, options_.server, &store::RolloutServer::server);
    if (own == table.servers.end() || own->epoch >= table.epoch) return {};
    auto db = BUNRAKU_TRY(options_.service->reader());
    std::set<std::string> environments;
    for (const RolloutRow& row : BUNRAKU_TRY(store::list_rollouts(*db, "", store::Which::All))) {
        // Newest first. An operator may have changed what this server has acknowledged since.
        if (position_of(row).state != State::Done || !environments.insert(row.environment).second)
            continue;
        const auto base = options_.deployed.base(row.environment);
        if (row.epoch > own->epoch && base && base->name == row.from)
            BUNRAKU_TRY_VOID(use(row.environment, row.to));
    }
    return {};
}

Result<void> Controller::join() {
    const std::lock_guard lock(mutex_);
    BUNRAKU_TRY_VOID(options_.versions->reload());
    const std::int64_t time = BUNRAKU_TRY(now());
    BUNRAKU_TRY_VOID(record_outage(BUNRAKU_TRY(list("", store::Which::Live)), time));
    BUNRAKU_TRY_VOID(acknowledge(time));
    return acknowledge(time);  // the first time may have raised the epoch
}

Result<void> Controller::clean(std::int64_t now) {
    constexpr std::chrono::minutes kPause{5};
    // Time for nodes to move after a rollout. Most move with their next run. Nodes whose requests
    // do not show where a run begins may need several runs.
    constexpr std::chrono::milliseconds kLongestUnmoved = std::chrono::hours(24);
    const auto begun = options_.runtime.now();
    if (cleaned_at_ && begun - *cleaned_at_ < kPause) return {};
    cleaned_at_ = begun;
    const std::int64_t longest =
        std::chrono::duration_cast<std::chrono::milliseconds>(server::kLongestRun).count();
    for (const auto& [name, versions] : options_.versions->table().environments) {
        std::set<std::string> tried;
        for (const auto& [node, attempt] : versions.tries) tried.insert(attempt.version);
        for (const std::string& version : tried) options_.deployed.retain(name, version);
        if (versions.rollout) {
            options_.deployed.retain(name, versions.rollout->row.from);
            options_.deployed.retain(name, versions.rollout->row.to);
            continue;
        }
        const auto base = options_.deployed.base(name);
        // After the clock has stepped forward, rows look older than they are.
        if (!base || steps_.stepped_within(kLongestUnmoved)) continue;
        std::set<std::string> unmoved;
        for (const auto& [node, row] : versions.nodes)
            if (row.version == row.previous) unmoved.insert(row.version);
        for (const std::string& version : unmoved) options_.deployed.retain(name, version);
        BUNRAKU_TRY_VOID(options_.service->with_writer([&](store::Writer& writer) -> Result<void> {
            BUNRAKU_TRY_VOID(store::forget_nodes(writer, name, base->name, now - longest));
            return store::forget_unmoved(writer, name, now - kLongestUnmoved.count());
        }));
    }
    return {};
}

Result<void> Controller::find_returned(std::int64_t now) {
    const std::int64_t epoch = options_.versions->table().epoch;
    if (epoch == returned_epoch_) return {};
    auto db = BUNRAKU_TRY(options_.service->reader());
    ReturnedNodes out;
    for (const RolloutRow& row : BUNRAKU_TRY(store::list_rollouts(*db, "", store::Which::All))) {
        const State state = position_of(row).state;
        const std::int64_t until = row.since + kRemovalTime;
        if ((state != State::Returning && state != State::Returned) || until <= now) continue;
        if (BUNRAKU_TRY(plan_of(*db, row))->rules.rollback.empty()) continue;
        auto& nodes = out.environments[row.environment];
        for (const RolloutMember& member : BUNRAKU_TRY(moved_members(*db, row))) {
            auto& node = nodes[member.certname];
            node.rollouts.push_back(row.id);
            node.until = std::max(node.until, until);
        }
    }
    options_.versions->set_returned(std::move(out));
    returned_epoch_ = epoch;
    return {};
}

void Controller::send_events_aside() {
    if (sending_.exchange(true)) return;
    const bool posted = outside_->post([this] {
        (void)send_events();  // after an error, the next pass tries again
        sending_ = false;
    });
    if (!posted) sending_ = false;
}

Result<void> Controller::send_events() {
    constexpr std::int64_t kGiveUp = 60LL * 60 * 1000;
    auto db = BUNRAKU_TRY(options_.service->reader());
    // Events of one rollout are sent in their order. A webhook that is away delays only its own.
    std::set<std::int64_t> delayed;
    for (const store::RolloutEvent& event : BUNRAKU_TRY(store::unsent_events(*db))) {
        if (delayed.contains(event.rollout)) continue;
        const auto row = BUNRAKU_TRY(store::find_rollout(*db, event.rollout));
        std::string url;
        if (row) url = BUNRAKU_TRY(plan_of(*db, *row))->rules.webhook;
        if (!url.empty() && options_.send) {
            const auto sent = options_.send(
                url,
                fmt::format(
                    R"({{"rollout":{},"number":{},"time":{},"actor":{},"event":{},"detail":{}}})",
                    event.rollout, event.number, event.time, codec::json_string(event.actor),
                    codec::json_string(event.what), event.detail));
            if (!sent && BUNRAKU_TRY(store::database_time(*db)) - event.time < kGiveUp) {
                delayed.insert(event.rollout);
                continue;
            }
            if (!sent) {
                options_.log.log(base::Level::Warning,
                                 fmt::format("An event of rollout {} was not sent: {}",
                                             event.rollout, sent.error().message));
            }
        }
        BUNRAKU_TRY_VOID(options_.service->with_writer(
            [&](store::Writer& writer) { return store::mark_sent(writer, event); }));
    }
    return {};
}

}  // namespace bunraku::rollout
