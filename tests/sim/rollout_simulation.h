// SPDX-License-Identifier: Apache-2.0
// The site of a simulated rollout. Internal to rollout_*.cc.
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/counters.h"
#include "core/base/diagnostic.h"
#include "core/sys/system.h"
#include "services/rollout/controller.h"
#include "sim/machine.h"
#include "sim/rollout_site.h"
#include "sim/rollout_texts.h"
#include "store/db/command.h"
#include "testing/simulation.h"

namespace bunraku::sim {

class Site {
public:
    Site(const RolloutOptions& options, RolloutFigures& figures);
    ~Site();
    Site(const Site&) = delete;
    Site& operator=(const Site&) = delete;
    std::vector<std::string> run();

private:
    struct Server {
        int number = 0;
        std::string name, code;
        std::string base;  ///< the version to which its link points, as far as it knows
        std::shared_ptr<rollout::StoreVersions> versions;
        std::unique_ptr<rollout::Controller> controller;
        bool hung = false;     ///< it does not answer, and continues later
        bool avoided = false;  ///< agents use other servers meanwhile
    };
    struct Node {
        std::string name, os;
        std::int64_t wave = 0;
        bool begins = true;          ///< sends a request with which runs begin
        bool names_its_run = false;  ///< sends its transaction with each request
        bool dead = false;
        std::string version;          ///< of its last run
        std::string catalog_version;  ///< of the last catalog that the store has
        int runs_of_new = 0;
        int missed = 0;           ///< reports in a row that were lost, or runs that it left out
        int refused = 0;          ///< runs since its last report that servers did not answer
        bool was_silent = false;  ///< it sent nothing for too long with the new version
        bool lost_first = false;  ///< the report of its first run with the new version was lost
        bool got_new = false;
        bool tried = false;         ///< an operator gave it the new version
        bool has_try = false;       ///< an operator gave it some version
        std::string late_report;    ///< a report that is sent again later
        std::int64_t ahead_ms = 0;  ///< of its clock
    };
    /// A command of an operator. Its reason names it in the events of the rollout.
    struct Order {
        std::int64_t rollout = 0;
        std::string reason;
    };
    /// What operators did to a rollout, as its events tell.
    struct Orders {
        bool stopped = false;   ///< halted or taken back, or halted because reports were lost
        bool finished = false;  ///< given to all nodes
        bool accepted = false;  ///< resumed after a halt, so that bad nodes do not count
    };

    // rollout_site.cc
    sys::Duration interval() const { return std::chrono::minutes(options_.interval_minutes); }
    sys::Duration random_time(sys::Duration most) {
        return sys::Duration(world_.random(static_cast<std::uint64_t>(most.count())));
    }
    bool once_in(std::uint64_t n) { return world_.random(n) == 0; }
    void wrong(std::string what);
    std::string uuid();
    bool is_good() const { return kind_ == Kind::Good; }

    void make_server(int number);
    void start();
    bool try_start();
    void stop();
    static std::string base_of(const Server& server);
    /// Reads the link of a server, as it does for each request.
    void look(Server& server);
    /// Runs the controller of a server.
    void control(Server& server);
    /// Adds a note if the rollout has another state or wave than before.
    void note_position(const Server& server);
    /// Calls `use` with a server that answers, if the one that is chosen does.
    template <class Use>
    void use_server(const Use& use) {
        Server& server = servers_[world_.random(servers_.size())];
        if (!up_ || crashed_ || server.hung) return;
        ++busy_;
        use(server);
        --busy_;
    }
    /// Returns the newest rollout, or nullopt if there is none or the servers are away.
    std::optional<store::RolloutRow> row();
    bool closed();
    void wait_until_closed();
    /// Perhaps starts the same change again after it was taken back.
    void start_again();

    void live(Node& node);
    /// Returns the server to which an agent sends a request.
    Server& any_server();
    /// Sends one request to some server. Returns the version of the answer; empty if there is none.
    std::string request(const Node& node, std::string_view transaction, bool begins,
                        bool catalog = false);
    void run(Node& node);
    /// Sends catalog and report of a run. Reports whether the report arrived.
    bool send_results(Node& node, RunOfNode& one);
    /// Notes whether a node has sent nothing for so long that it counts as silent.
    static void check_silence(Node& node);
    /// Checks that a node that gets the new version belongs to a wave that has moved.
    void check_wave(const Node& node);
    bool submit(store::CommandKind kind, int version, const Node& node, const std::string& body);
    /// Returns the time by the clock of the agent.
    std::int64_t agent_ms(const Node& node) {
        return world_.now_ms() + agents_ahead_ms_ + node.ahead_ms;
    }
    /// Reports whether an agent whose requests do not show the begin of a run has another version
    /// than it shall have in the end.
    bool implied_left() const;
    void check_end();
    void check_end_of(const store::RolloutRow& row, const Orders& orders);
    /// Reports whether an event names a node whose reports were lost, so that a halt is right.
    bool is_result_of_loss(const store::RolloutEvent& event) const;
    /// Returns how many nodes may get a bad version.
    std::size_t most_moved_by_bad() const;

    // rollout_faults.cc
    bool faulty() const { return !ended_ && !calm_; }
    void crash_servers();
    /// A server loses its memory.
    void restart(const Server& server);
    /// A server hangs for a while, and then continues with its old memory.
    void hang();
    /// The clocks of the servers and of the database step, sometimes also those of the agents.
    void step_clock();
    void step_clock(sys::Duration by, bool agents_too);
    /// The clocks of some agents step.
    void step_agents();
    void fill_disk();
    void end_faults();

    // rollout_operators.cc
    rollout::Plan make_plan();
    void begin_rollout();
    /// Starts rollouts whose plans are stale, all of which must be refused.
    void start_stale_plans();
    void start_stale_plan(std::string_view what, const rollout::Plan& plan);
    /// Operators try versions on single nodes.
    void try_versions();
    /// Returns false if the server did not answer.
    bool end_try(const Node& node);
    /// Operators send commands, many of which are not possible.
    void meddle();
    /// An operator approves waves, and decides about rollouts that wait for a decision.
    void decide();
    /// Sends a command to some server. With `sequence`, it is refused if the rollout has changed.
    void order(rollout::Command command, std::optional<std::int64_t> sequence = {});
    void approve();
    /// Starts another rollout although one is live.
    void start_another();
    /// Checks that no wave has begun without its approval.
    void check_approvals(const store::RolloutRow& row);
    /// Checks that the row follows from its events, and that these contain all acknowledged
    /// commands. Returns what operators did.
    Orders check_events(const store::RolloutRow& row);
    std::vector<store::RolloutEvent> events_of(std::int64_t rollout);

    const RolloutOptions options_;
    RolloutFigures& figures_;
    const Kind kind_;
    const bool more_faults_, operated_;
    const std::string root_;
    sys::Simulation world_;
    sys::RealSystem system_;
    base::NullSink log_;
    base::Counters counters_;
    std::unique_ptr<HostDisk> disk_;
    std::shared_ptr<store::Service> service_;
    std::deque<Server> servers_;
    std::deque<Node> nodes_;
    std::vector<std::string> violations_;
    std::string rules_ = "soak: 30m\n";
    bool meddles_ = false;  ///< operators stop and finish rollouts
    std::string plan_;
    std::size_t canaries_ = 0, waves_ = 0;
    std::uint64_t moved_by_bad_ = 0, starts_ = 0;
    std::int64_t agents_ahead_ms_ = 0;
    std::int64_t noted_ = 0;  ///< the newest sequence number in the notes
    std::vector<Order> acknowledged_;
    std::set<std::string> refused_;  ///< reasons of commands that were refused
    std::string_view last_version_;  ///< the version that all nodes have in the end
    std::uint64_t orders_ = 0;
    std::int64_t newest_rollout_ = 0;  ///< its id
    int busy_ = 0;                     ///< number of tasks that use the servers
    bool up_ = false, crashed_ = false, calm_ = false, ended_ = false;
};

}  // namespace bunraku::sim
