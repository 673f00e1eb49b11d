// SPDX-License-Identifier: Apache-2.0
// A site in one process and one thread: a server with all its roles, agents, an operator who
// deploys code, and random faults. A seed determines all events. The class also checks the
// invariants that must hold in every run.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/base/arena.h"
#include "core/config/settings.h"
#include "core/sys/system.h"
#include "services/agent/ssl.h"
#include "services/load/agent.h"
#include "services/server/instance.h"
#include "sim/machine.h"
#include "testing/memory_network.h"

namespace bunraku::sim {

struct Options {
    std::uint64_t seed = 1;
    int agents = 5;   ///< number of simulated agents
    int whole = 0;    ///< number of additional agents that apply their catalogs (whole_agent.h)
    int servers = 1;  ///< the first server is CA, store and compiler; the others only compile
    double days = 1;
    int interval_minutes = 30;
    bool faults = true;
    /// True to deploy code between any two requests of runs, always through a link.
    bool moves = false;
    /// Number of hours by which the clock advances in one step; after each step, every agent runs.
    /// Used to test certificates, which are valid for years. 0 means that time advances without
    /// such steps.
    int leap_hours = 0;
    bool tell = false;  ///< print all events to standard error
    /// folder for all simulated disks; its path influences the simulated events
    std::string place;
};

struct Figures {
    std::uint64_t runs = 0, failed = 0, catalogs = 0, unchanged = 0, reports = 0;
    std::uint64_t deploys = 0, crashes = 0, losses = 0, agent_crashes = 0, renewals = 0;
    std::uint64_t applied = 0, rested = 0, drifts = 0;  ///< counts of whole agents
    void add(const Figures& other);
};

class Fleet {
public:
    explicit Fleet(Options options);
    ~Fleet();
    /// Runs the simulation. Returns all violated invariants; empty if there were none.
    const std::vector<std::string>& run();
    const Figures& figures() const { return figures_; }
    std::uint64_t digest() const { return world_.events_digest(); }

private:
    struct Machine;  ///< an agent and the machine that it runs on
    struct Server;
    class Log;

    // Set-up of the site.
    std::string make_root() const;
    config::Settings server_settings(const Server& server) const;
    bool start_server(Server& server);
    void start_for_sure(Server& server);
    void stop_server(Server& server);

    // Actors.
    void operate();
    void deploy(bool in_place);
    void trouble();
    Server& some_server();
    void crash_server();
    void crash_agent();
    void fill_disk();
    void inject_network_faults();
    void part();
    void step_clock();
    void live(Machine& machine);
    void begin_life(Machine& machine);
    bool has_certificate(Machine& machine);
    void run_agent(Machine& machine);
    void run_whole(Machine& machine);
    void ended_run(Machine& machine, bool good, bool absent);
    base::Result<agent::SslFiles> certificates_of(const std::string& name,
                                                  const config::Settings& settings,
                                                  base::LogSink& log,
                                                  std::function<bool()> stopped);
    void keep_certificates();
    void foreign_server();
    void leap();

    // Invariants.
    void record(Machine& machine, load::Step step, const http::ClientRequest& request,
                const http::ClientResponse& response);
    void check_catalog(Machine& machine);
    void check_one_version(Machine& machine, const std::set<int>& versions);
    void move_perhaps(std::uint64_t one_in);
    void check_machine(Machine& machine, bool all);
    void check_certificate(Machine& machine);
    void check_end();
    void check_inventory();
    std::string ask_store(std::string_view path);
    void wrong(std::string what);
    void note(std::string_view what) { world_.note(what); }

    sys::Duration random_time(sys::Duration most) {
        return sys::Duration(world_.random(static_cast<std::uint64_t>(most.count())));
    }
    sys::Duration interval() const { return std::chrono::minutes(options_.interval_minutes); }

    Options options_;
    std::string root_;
    sys::Simulation world_;
    http::MemoryNetwork network_;
    sys::RealSystem system_;
    Figures figures_;
    std::vector<std::string> violations_;

    std::deque<Server> servers_;
    bool ended_ = false, calm_ = false;
    std::int64_t ended_ns_ = 0;
    sys::TimePoint caught_up_{};  ///< the time since which no clock has been ahead

    // Versions of the code.
    int code_ = 0;  ///< the newest completely deployed version
    /// true during a deploy in place, while files of two versions exist
    bool deploying_ = false;
    std::uint64_t deploys_ = 0;  ///< number of deploys in place that have begun
    bool in_place_ = false;      ///< true if deploys overwrite files
    std::uint64_t starts_ = 0;   ///< number of starts of servers

    std::deque<Machine> machines_;
    load::Figures load_figures_;
    /// serial numbers of all certificates seen so far
    std::map<std::string, std::string> serials_;
    /// Serial numbers of facts that another compile server sent for a node.
    struct Foreign {
        std::set<int> sent;
        int acknowledged = 0;  ///< the newest acknowledged number
    };
    std::map<std::string, Foreign> foreign_;
};

}  // namespace bunraku::sim
