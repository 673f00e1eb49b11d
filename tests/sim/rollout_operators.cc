// SPDX-License-Identifier: Apache-2.0
// The operators of a simulated rollout: plans, commands and tries.
#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <fstream>

#include "services/rollout/waves.h"
#include "sim/rollout_simulation.h"

namespace bunraku::sim {

using namespace std::chrono_literals;
using namespace rollout;

namespace {

constexpr std::string_view kOperator = "operator";

}  // namespace

// ---- Starting ----

Plan Site::make_plan() {
    Plan plan;
    plan.environment = kEnvironment;
    plan.from = {.version = std::string(kOld), .commit = "a", .files = std::string(kOld)};
    plan.to = {.version = std::string(kNew), .commit = "b", .files = std::string(kNew)};
    plan.rules_text = rules_;
    plan.rules = *read_rules(rules_);
    plan.made = world_.now_ms();
    plan.groups = {
        {.kind = "changed", .reference = "File[/etc/app]", .parameter = "content", .file = "a"},
        {.kind = "changed", .reference = "File[/etc/b]", .parameter = "content", .file = "b"}};
    std::vector<Candidate> candidates;
    for (const Node& node : nodes_) {
        PlannedNode planned{.name = node.name, .verdict = "changed", .groups = {0}};
        if (node.os == "b") planned.groups.push_back(1);
        candidates.push_back({.name = node.name, .kinds = planned.groups, .stratum = node.os});
        plan.nodes.push_back(std::move(planned));
    }
    const std::string seed = fmt::format("{}", options_.seed);
    const auto canaries = choose_canaries(candidates, plan.rules, seed);
    const auto waves = make_waves(candidates, canaries, plan.rules, seed);
    plan.waves = waves.names;
    for (std::size_t i = 0; i < nodes_.size(); ++i) {
        plan.nodes[i].wave = waves.wave[i];
        nodes_[i].wave = waves.wave[i];
    }
    canaries_ = canaries.size();
    return plan;
}

void Site::begin_rollout() {
    Plan plan = make_plan();
    waves_ = plan.waves.size();
    const auto end = world_.now() + 96 * interval();
    for (; world_.now() < end; world_.sleep(10s)) {
        if (!up_ || crashed_) continue;
        plan_ = plan_text(plan);
        ++busy_;
        auto& server = servers_[world_.random(servers_.size())];
        const auto started =
            server.hung
                ? base::Result<RolloutStatus>(base::failure("the server hangs"))
                : server.controller->start(plan_, {.name = std::string(kOperator), .reason = ""});
        const auto known = server.controller->list("", store::Which::All);
        const bool exists =
            known && !known->empty() && !crashed_ && known->front().id > newest_rollout_;
        --busy_;
        if (exists) {
            newest_rollout_ = known->front().id;
            return;
        }
        if (started) continue;
        world_.note("start: " + started.error().message);
        // The clock of the database may have been ahead when a fact of a canary changed.
        if (operated_ && started.error().code == kStale) plan = make_plan();
    }
    wrong("no rollout could be started");
}

void Site::start_stale_plans() {
    const Plan plan = make_plan();
    Plan other = plan;
    std::swap(other.from, other.to);
    start_stale_plan("the base is another version", other);
    other = plan;
    other.to.files = "0";
    start_stale_plan("the files of the new version have changed", other);
    other = plan;
    other.nodes.resize(other.nodes.size() - std::max<std::size_t>(3, other.nodes.size() / 20));
    start_stale_plan("there are new nodes", other);
    const auto write_rules = [&](const std::string& text) {
        for (const Server& server : servers_)
            std::ofstream(fmt::format("{}/.bunraku/production/{}/rollout.yaml", server.code, kNew))
                << text;
    };
    write_rules(rules_ + "proofs: 3\n");
    start_stale_plan("the rules have changed", plan);
    write_rules(rules_);
    // Facts of a canary change after the plan was made.
    const auto canary = std::ranges::find(nodes_, 0, &Node::wave);
    if (canary == nodes_.end()) return wrong("there is no canary");
    const auto starts = starts_, full = figures_.full_disks, steps = figures_.steps;
    const auto set_fact = [&](std::string_view value) {
        const bool done = submit(store::CommandKind::ReplaceFacts, 5, *canary,
                                 facts_text(canary->name, value, world_.now_ms()));
        world_.sleep(1min);
        return done;
    };
    if (!set_fact("web")) return;
    other = make_plan();
    world_.sleep(1s);
    if (!set_fact("database")) return;
    const bool stored = starts == starts_ && full == figures_.full_disks && !disk_->full;
    // After a step back, the facts look older than the plan.
    if (stored && steps == figures_.steps)
        start_stale_plan("facts of a canary have changed", other);
}

void Site::start_stale_plan(std::string_view what, const Plan& plan) {
    use_server([&](Server& server) {
        const auto started = server.controller->start(
            plan_text(plan), {.name = std::string(kOperator), .reason = std::string(what)});
        if (crashed_) return;
        ++figures_.refused_orders;
        if (started) return wrong(fmt::format("a stale plan was started although {}", what));
        world_.note("start: " + started.error().message);
        if (started.error().code != kStale)
            wrong(fmt::format("a stale plan ({}) was refused with: {}", what,
                              started.error().message));
    });
}

void Site::start_another() {
    use_server([&](Server& server) {
        const auto before = server.controller->list("", store::Which::All);
        if (!before || before->empty() || !before->front().live) return;
        const auto started = server.controller->start(
            plan_, {.name = "another", .reason = "while another one is live"});
        if (crashed_) return;
        ++figures_.refused_orders;
        if (started) wrong("a second rollout of the environment was started");
        const auto after = server.controller->list("", store::Which::All);
        if (after && after->size() != before->size())
            wrong("a second rollout of the environment was stored");
    });
}

// ---- Tries ----

void Site::try_versions() {
    while (faulty()) {
        world_.sleep(random_time(8 * interval()));
        if (!faulty()) continue;
        Node& node = nodes_[world_.random(nodes_.size())];
        if (once_in(4)) {
            (void)end_try(node);
            continue;
        }
        const auto version = once_in(3) ? kOld : kNew;
        const auto seconds = static_cast<std::int64_t>(60 + world_.random(7'200));
        use_server([&](Server& server) {
            node.has_try = true;
            node.tried |= version == kNew;
            const auto done = server.controller->set_try({.certname = node.name,
                                                          .environment = std::string(kEnvironment),
                                                          .version = std::string(version),
                                                          .actor = std::string(kOperator)},
                                                         seconds);
            if (done) ++figures_.tries;
            world_.note(
                fmt::format("{} tries {} for {} s: {}", node.name, version, seconds,
                            done ? "waits for '" + done->waiting + "'" : done.error().message));
        });
        if (!operated_ || !once_in(3)) continue;
        // The operator changes their mind, perhaps before the node has moved.
        world_.sleep(random_time(once_in(2) ? sys::Duration(1min) : interval()));
        (void)end_try(node);
    }
}

bool Site::end_try(const Node& node) {
    bool done = false;
    use_server([&](Server& server) {
        done = server.controller->end_try(kEnvironment, node.name).has_value() && !crashed_;
    });
    return done;
}

// ---- Commands ----

void Site::order(Command command, std::optional<std::int64_t> sequence) {
    use_server([&](Server& server) {
        const auto rows = server.controller->list("", store::Which::All);
        if (!rows || rows->empty() || crashed_) return;
        const store::RolloutRow before = rows->front();
        const auto expected = next(position_of(before), command, static_cast<std::int64_t>(waves_));
        const bool possible = expected && sequence.value_or(before.sequence) == before.sequence;
        const Order one{.rollout = before.id, .reason = fmt::format("order {}", ++orders_)};
        const auto done = server.controller->command(
            before.id, command, {.name = std::string(kOperator), .reason = one.reason}, sequence);
        world_.note(fmt::format("{} by {}: {} of a rollout that is {}: {}", one.reason, server.name,
                                command_name(command), before.state,
                                done ? "done" : done.error().message));
        if (crashed_) return;
        const std::string what = fmt::format("the command to {} a rollout that is {}",
                                             command_name(command), before.state);
        if (!possible) {
            if (done) return wrong(what + " was executed");
            if (done.error().code != kConflict)
                wrong(fmt::format("{} was refused with: {}", what, done.error().message));
            ++figures_.refused_orders;
            refused_.insert(one.reason);
        } else if (done) {
            ++figures_.orders;
            acknowledged_.push_back(one);
        } else if (!disk_->full) {
            wrong(fmt::format("{} failed: {}", what, done.error().message));
        }
    });
}

void Site::approve() {
    use_server([&](Server& server) {
        const auto rows = server.controller->list("", store::Which::All);
        if (!rows || rows->empty() || crashed_) return;
        const store::RolloutRow before = rows->front();
        const bool possible = before.live && before.approved <= before.wave;
        const auto try_as = [&](std::string name, int refusal) {
            const std::string reason = fmt::format("order {}", ++orders_);
            const auto done =
                server.controller->approve(before.id, {.name = name, .reason = reason}, {});
            world_.note(fmt::format("{} approves wave {} by {}: {}", name, before.wave, server.name,
                                    done ? "done" : done.error().message));
            if (crashed_) return;
            if (refusal != 0) {
                ++figures_.refused_orders;
                refused_.insert(reason);
                if (done || done.error().code != refusal)
                    wrong(fmt::format("an approval by {} of wave {} was not refused", name,
                                      before.wave));
            } else if (done) {
                ++figures_.orders;
                acknowledged_.push_back({.rollout = before.id, .reason = reason});
            } else if (!disk_->full) {
                wrong("an approval failed: " + done.error().message);
            }
        };
        const bool other = read_rules(rules_)->approve_by_another;
        if (other && possible) try_as(std::string(kOperator), kForbidden);
        try_as("another", possible ? 0 : kConflict);
    });
}

void Site::check_approvals(const store::RolloutRow& row) {
    if (row.state == "finishing" || row.state == "done") return;
    for (std::int64_t wave = 0; wave < row.moved; ++wave) {
        if (read_rules(rules_)->needs_approval(wave) && row.approved <= wave)
            wrong(fmt::format("wave {} has begun without an approval", wave));
    }
}

void Site::decide() {
    const auto rules = *read_rules(rules_);
    while (faulty()) {
        world_.sleep(random_time(2 * interval()));
        const auto found = row();
        if (!faulty() || !found || !found->live) continue;
        if (found->state == "waiting" && rules.needs_approval(found->wave) &&
            found->approved <= found->wave) {
            approve();
        } else if (found->state == "paused") {
            const bool ends = meddles_ && once_in(6);
            order(!ends ? Command::Resume : once_in(2) ? Command::Back : Command::Finish);
        } else if (found->state == "halted") {
            order(meddles_ && once_in(is_good() ? 1 : 4) ? Command::Resume : Command::Back);
        }
    }
}

void Site::meddle() {
    while (faulty()) {
        world_.sleep(random_time(6 * interval()));
        const auto found = row();
        if (!faulty() || !found || !found->live) continue;
        constexpr std::array kStops = {Command::Halt, Command::HaltAndHold, Command::Back,
                                       Command::Finish};
        const Command stop = kStops[world_.random(kStops.size())];
        switch (world_.random(7)) {
            case 0:
            case 1: order(Command::Pause); break;
            case 2: start_another(); break;
            case 3:
                // Another operator or the controller may have been faster.
                world_.sleep(random_time(2 * interval()));
                order(meddles_ && once_in(2) ? stop : Command::Pause, found->sequence);
                break;
            case 4: approve(); break;
            case 5:
                if (meddles_ || found->state != "halted") order(Command::Resume);
                break;
            default:
                if (!meddles_) break;
                order(stop);
                for (const Command next : {Command::Halt, Command::Resume, Command::Back}) {
                    world_.sleep(random_time(interval()));
                    const auto later = row();
                    if (later && (later->state == "returning" || later->state == "finishing"))
                        order(next);
                }
        }
    }
}

// ---- Events ----

std::vector<store::RolloutEvent> Site::events_of(std::int64_t rollout) {
    auto db = service_->reader();
    if (!db) return {};
    return store::rollout_events(**db, rollout).value_or(std::vector<store::RolloutEvent>());
}

Site::Orders Site::check_events(const store::RolloutRow& row) {
    Orders out;
    // An event has the state and the wave after it, and several commands have one name.
    std::vector<Position> possible = {Position()};
    std::int64_t number = 0;
    std::set<std::string> reasons;
    for (const store::RolloutEvent& event : events_of(row.id)) {
        if (event.number != ++number)
            wrong(fmt::format("event {} follows event {}", event.number, number - 1));
        const auto contains = [&](std::string_view text) {
            return event.detail.find(text) != std::string::npos;
        };
        const bool ordered = event.actor != "controller";
        const auto reason = event.detail.find("order ");
        if (ordered && reason != std::string::npos) {
            const auto end = event.detail.find('"', reason);
            const auto text = event.detail.substr(reason, end - reason);
            if (refused_.contains(text)) wrong(text + " was executed although it was refused");
            if (!reasons.insert(text).second) wrong(text + " was executed twice");
        }
        if (event.what == "start" || event.what == "away" || event.what == "approve") continue;
        std::vector<Position> after;
        for (const Position& position : possible) {
            for (int i = 0; i <= static_cast<int>(Command::Finish); ++i) {
                const auto command = static_cast<Command>(i);
                const auto to = next(position, command, static_cast<std::int64_t>(waves_));
                if (command_name(command) != event.what || !to ||
                    !contains(
                        fmt::format(R"("state":"{}","wave":{},)", state_name(to->state), to->wave)))
                    continue;
                if (std::ranges::find(after, *to) == after.end()) after.push_back(*to);
                out.accepted |= command == Command::Resume && position.state == State::Halted;
            }
        }
        if (after.empty())
            wrong(
                fmt::format("event {}, {} {}, is not possible", number, event.what, event.detail));
        possible = std::move(after);
        if (ordered) {
            out.finished |= event.what == "finish";
            out.stopped |= event.what == "halt" || event.what == "back";
        } else if (is_good() && (event.what == "halt" || event.what == "pause")) {
            if (is_result_of_loss(event)) {
                out.stopped = true;
                continue;
            }
            wrong(fmt::format("a good change was stopped: {}", event.detail));
        }
    }
    if (std::ranges::find(possible, position_of(row)) == possible.end())
        wrong(fmt::format("the state {} does not follow from the events", row.state));
    for (const Order& one : acknowledged_) {
        if (one.rollout == row.id && !reasons.contains(one.reason)) wrong(one.reason + " was lost");
    }
    return out;
}

}  // namespace bunraku::sim
