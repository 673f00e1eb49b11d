// SPDX-License-Identifier: Apache-2.0
// Advances rollouts: starts waves, judges nodes, halts, reverts and finishes. All of its state is
// in rows of the store, and memory contains only copies. Therefore it can stop at any time and run
// on several servers.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/counters.h"
#include "core/base/diagnostic.h"
#include "core/sys/executor.h"
#include "services/rollout/checks.h"
#include "services/rollout/deployed.h"
#include "services/rollout/evidence.h"
#include "services/rollout/judge.h"
#include "services/rollout/plan.h"
#include "services/rollout/store_versions.h"

namespace bunraku::rollout {

/// What an operator did, from where, and why.
struct Actor {
    std::string name;
    std::string reason;
};

/// Error codes of Controller, which are HTTP status codes.
inline constexpr int kNotFound = 404, kConflict = 409, kStale = 412, kForbidden = 403,
                     kInvalid = 400;

struct ControllerOptions {
    std::shared_ptr<store::Service> service;
    std::shared_ptr<StoreVersions> versions;
    Deployed deployed;
    sys::System& system;
    sys::Runtime& runtime;
    base::LogSink& log;
    base::Counters& counters;
    std::string server;  ///< name of this server
    /// Sends an event to a webhook. Fails if it must be sent again. Called on another thread, one
    /// call at a time.
    std::function<base::Result<void>(const std::string& url, const std::string& body)> send;
    HttpGet get = {};  ///< for checks that ask Prometheus
};

/// The progress of a wave.
struct WaveProgress {
    std::int64_t nodes = 0, moved = 0, proved = 0, bad = 0;
};

/// A rollout with what is computed from its rows.
struct RolloutStatus {
    store::RolloutRow row;
    std::shared_ptr<const Plan> plan;
    std::vector<WaveProgress> waves;
    std::string waiting;  ///< what it waits for; empty if nothing
};

/// A try as it is stored.
struct TryStatus {
    store::NodeTry entry;
    std::string waiting;  ///< what the node waits for, such as a server; empty if nothing
};

class Controller {
public:
    explicit Controller(ControllerOptions options);
    ~Controller() { stop(); }
    Controller(const Controller&) = delete;
    Controller& operator=(const Controller&) = delete;

    /// Ends checks, and waits for the response to a webhook that is being sent.
    void stop();

    /// Reads the table, and acknowledges it for this server, before the first request of an agent.
    base::Result<void> join();

    /// Advances all live rollouts by one step. Returns true if there is anything live.
    base::Result<bool> tick();

    /// Starts a rollout from a plan. Fails with kStale if something that the plan depends on has
    /// changed, and with kConflict if the environment has a live rollout.
    base::Result<RolloutStatus> start(std::string_view plan_text, const Actor& actor);
    /// Executes a command of an operator. Fails with kConflict if the command is not possible, or
    /// if `sequence` is given and is not the current sequence number.
    base::Result<RolloutStatus> command(std::int64_t id, Command command, const Actor& actor,
                                        std::optional<std::int64_t> sequence);
    /// Approves the next wave.
    base::Result<RolloutStatus> approve(std::int64_t id, const Actor& actor,
                                        std::optional<std::int64_t> sequence);
    /// Gives a node another version for `seconds`, from its next run on. `entry.version` may be the
    /// beginning of a version or commit. Fails with kNotFound if this server lacks the version.
    base::Result<TryStatus> set_try(store::NodeTry entry, std::int64_t seconds);
    /// Ends the try of a node, if it has one.
    base::Result<void> end_try(std::string_view environment, std::string_view node);
    base::Result<RolloutStatus> status(std::int64_t id);
    base::Result<RolloutStatus> status(const store::RolloutRow& row);
    /// Returns the rows of rollouts, newest first.
    base::Result<std::vector<store::RolloutRow>> list(std::string_view environment,
                                                      store::Which which);

    /// Returns the plan of a rollout.
    base::Result<std::shared_ptr<const Plan>> plan_of(store::Database& db,
                                                      const store::RolloutRow& row);

    const ControllerOptions& options() const { return options_; }

private:
    struct Pass;
    base::Result<bool> pass();
    WaveCheck check_of(const Pass& pass) const;
    base::Result<void> check_stale(const Plan& plan) const;
    base::Result<void> advance(const store::RolloutRow& row, std::int64_t now);
    base::Result<void> judge_nodes(Pass& pass);
    base::Result<std::optional<JudgedNode>> evidence(Pass& pass,
                                                     const store::RolloutMember& member);
    /// Observes a node, and returns the number of milliseconds for which it has been silent.
    /// `since` is the time of the last event that ended a silence.
    std::int64_t watched_for(const Pass& pass, const std::string& node, std::int64_t since);
    base::Result<bool> control_group_fails(Pass& pass);
    std::optional<Command> decide(Pass& pass, std::string& reason);
    /// Returns the command after too many nodes of moved waves were bad, or nullopt if the rollout
    /// is paused already.
    std::optional<Command> stop_for(Pass& pass, const store::RolloutMember& worst,
                                    std::string& reason);
    std::optional<Command> decide_moving(Pass& pass, std::string& reason);
    std::optional<Command> decide_soaking(Pass& pass, std::string& reason);
    std::optional<Command> decide_returning(Pass& pass, std::string& reason);
    std::optional<Command> decide_finishing(Pass& pass, std::string& reason);
    /// Returns the number of milliseconds for which a rollout has been in its state, without the
    /// outages.
    std::int64_t time_in_state(const store::RolloutRow& row, std::int64_t now,
                               std::vector<Outage> outages) const;
    std::string waiting_for(const store::RolloutRow& row, const Plan& plan, std::int64_t now);
    /// Describes the server for which nodes have to wait before they take a version, because it
    /// does not know the newest targets or does not have the version. Returns an empty text if they
    /// do not wait.
    std::string awaited_server(std::string_view environment, std::string_view version) const;
    /// Returns which server does not have a version, in the words of awaited_server().
    std::string missing_version(std::string_view environment, std::string_view version) const;
    /// Returns the name of a server in use that does not have a version, or nullopt.
    std::optional<std::string> server_without(std::string_view environment,
                                              std::string_view version) const;
    /// Writes a transition, logs it and reads the table again.
    base::Result<std::optional<store::RolloutRow>> transition(const store::RolloutRow& row,
                                                              const Plan& plan, Command command,
                                                              const Actor& actor);
    /// Returns the times since which other servers have not answered.
    std::vector<Outage> servers_away(std::int64_t now) const;
    /// Reports whether reports may be missing because another server does not answer.
    bool misses_reports() const;
    /// Records for each live rollout that this server, or all of them, did not reach the store for
    /// a while before `now`.
    base::Result<void> record_outage(const std::vector<store::RolloutRow>& rows, std::int64_t now);
    /// Removes the tries whose time is over.
    base::Result<void> end_tries(std::int64_t now);
    base::Result<void> acknowledge(std::int64_t now);
    /// Switches an environment to the version of a rollout that has moved all nodes.
    base::Result<void> use(const std::string& environment, const std::string& version);
    /// Switches environments whose rollouts finished while this server did not answer. The other
    /// servers have not waited for it.
    base::Result<void> use_finished(const VersionTable& table);
    base::Result<void> clean(std::int64_t now);
    /// Finds the nodes whose agents may remove something, if a rollout has changed since.
    base::Result<void> find_returned(std::int64_t now);
    /// Sends events on another thread, unless that is under way.
    void send_events_aside();
    base::Result<void> send_events();
    base::Result<std::int64_t> now();
    void set_problem(std::int64_t id, const std::string& problem);

    ControllerOptions options_;
    std::mutex mutex_;  ///< one pass or command at a time
    /// Protects the next two members. Never held during I/O, so that showing a rollout does not
    /// wait for a pass.
    std::mutex copies_mutex_;
    std::map<std::string, std::shared_ptr<const Plan>> plans_;  ///< by digest
    std::map<std::int64_t, std::string> problems_;  ///< why a rollout could not advance, by id
    /// The newest report of each node that was judged, and the verdict, by rollout and node.
    std::map<std::pair<std::int64_t, std::string>, std::int64_t> judged_;
    std::map<std::string, KnownRuns> known_runs_;  ///< by environment; cleared without rollouts
    /// Watches nodes and rollouts. Restarts after the store was unavailable, because reports could
    /// not arrive during that time.
    LeaseClock watch_;
    StepDetector steps_;
    std::int64_t acknowledged_ = -1;  ///< the epoch
    std::optional<sys::TimePoint> acknowledged_at_, cleaned_at_;
    std::int64_t returned_epoch_ = -1;  ///< the epoch of the last find_returned()
    std::atomic<bool> sending_{false};
    /// Runs work that waits for a program or another server, so that passes and commands do not
    /// wait.
    std::unique_ptr<sys::Executor> outside_;
    Checks checks_;
};

}  // namespace bunraku::rollout
