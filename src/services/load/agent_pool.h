// A crowd of agents, each with its time: they come by turns as a fleet's do, or as fast as the
// server lets them.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "services/load/agent.h"

namespace bunraku::load {

struct AgentPoolOptions {
    std::size_t agents = 0;
    std::string names = "agent{}.simulated";  ///< "{}" is the number, from 1
    std::uint64_t seed = 1;
    std::uint64_t runs = 0;             ///< of each agent; 0: until the time is over
    std::int64_t interval_seconds = 0;  ///< between the beginnings of an agent's runs; 0: no pause
    std::int64_t splay_seconds = 0;     ///< chance that is added before each run
    std::int64_t duration_seconds = 0;  ///< 0: until all runs are made
    std::size_t at_a_time = 0;          ///< runs; 0: 10 without an interval, else 256
    /// Gives an agent its certificate, before the first run. By many threads.
    std::function<base::Result<agent::SslFiles>(const std::string& name)> certificate;
    /// Called about once a second while it lasts; false ends it.
    std::function<bool(double seconds)> tick;
};

class AgentPool {
public:
    AgentPool(const AgentProfile& profile, AgentPoolOptions options);
    ~AgentPool();

    /// Every agent has its certificate then, or none has begun: the error is the first one's.
    base::Result<void> prepare();
    /// Until all runs are made, the time is over or somebody stops it. The seconds it took.
    double run();
    bool interrupted() const;
    std::vector<std::unique_ptr<Agent>>& agents();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// "agent-{}.example.org" with a number; with as many digits as `most` has.
std::string numbered_name(std::string_view pattern, std::size_t number, std::size_t most);

}  // namespace bunraku::load
