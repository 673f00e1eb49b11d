// A site in one process and one thread: a server with all its roles, agents, an operator who
// deploys and a world that breaks, all drawn by a seed; and what must hold whatever happens.
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
#include "net/http/memory_network.h"
#include "services/agent/ssl.h"
#include "services/load/agent.h"
#include "services/server/instance.h"
#include "sim/machine.h"

namespace bunraku::sim {

struct Options {
    std::uint64_t seed = 1;
    int agents = 5;   ///< whose machines are imagined
    int whole = 0;    ///< agents that apply their catalogs (whole_agent.h), beside them
    int servers = 1;  ///< the first is authority and store, and compiles as the others do
    double days = 1;
    int interval_minutes = 30;
    bool faults = true;
    /// Time passes in leaps of so many hours, after each of which every agent has its runs: for
    /// certificates, which live for years. 0: every second is lived through.
    int leap_hours = 0;
    bool tell = false;  ///< the story, on standard error
    std::string place;  ///< a folder for all that its disks hold; paths are part of the story
};

struct Figures {
    std::uint64_t runs = 0, failed = 0, catalogs = 0, unchanged = 0, reports = 0;
    std::uint64_t deploys = 0, crashes = 0, losses = 0, agent_crashes = 0, renewals = 0;
    std::uint64_t applied = 0, rested = 0, drifts = 0;  ///< of whole agents
    void add(const Figures& other);
};

class Fleet {
public:
    explicit Fleet(Options options);
    ~Fleet();
    /// What did not hold; empty: all did.
    const std::vector<std::string>& run();
    const Figures& figures() const { return figures_; }
    std::uint64_t digest() const { return world_.events_digest(); }

private:
    struct Machine;  ///< an agent and what it stands for
    struct Server;
    class Log;

    // What there is.
    std::string make_root() const;
    config::Settings server_settings(const Server& server) const;
    bool start_server(Server& server);
    void start_for_sure(Server& server);
    void stop_server(Server& server);

    // Who does what.
    void operate();
    void deploy(bool in_place);
    void trouble();
    Server& some_server();
    void crash_server();
    void crash_agent();
    void fill_disk();
    void bad_weather();
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

    // What must hold.
    void record(Machine& machine, load::Step step, const http::ClientRequest& request,
                const http::ClientResponse& response);
    void check_catalog(Machine& machine);
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
    std::vector<std::string> wrongs_;

    std::deque<Server> servers_;
    bool ended_ = false, calm_ = false;
    std::int64_t ended_ns_ = 0;
    sys::TimePoint caught_up_{};  ///< when no clock has been ahead of this time

    // The code, by its numbers.
    int code_ = 0;               ///< the newest that is whole
    bool deploying_ = false;     ///< in place: files of two versions stand side by side
    std::uint64_t deploys_ = 0;  ///< begun in place

    std::deque<Machine> machines_;
    load::Figures load_figures_;
    std::map<std::string, std::string> serials_;  ///< of certificates that were seen
    /// Numbers that were sent for a node elsewhere.
    struct Foreign {
        std::set<int> sent;
        int acknowledged = 0;  ///< the newest
    };
    std::map<std::string, Foreign> foreign_;
};

}  // namespace bunraku::sim
