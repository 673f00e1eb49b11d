// SPDX-License-Identifier: Apache-2.0
// A pool of simulated agents that run on a schedule, or back to back.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "services/load/agent.h"

namespace bunraku::load {

struct AgentPoolOptions {
    std::size_t agents = 0;
    std::string names = "agent{}.simulated";  ///< "{}" is replaced with the agent's number, from 1
    std::uint64_t seed = 1;
    std::uint64_t runs = 0;             ///< runs per agent; 0 means until the duration ends
    std::int64_t interval_seconds = 0;  ///< between the starts of an agent's runs; 0 means no pause
    std::int64_t splay_seconds = 0;     ///< maximum random delay before each run
    std::int64_t duration_seconds = 0;  ///< 0 means until all runs are complete
    /// concurrent runs; 0 means 10 without an interval, otherwise 256
    std::size_t at_a_time = 0;
    /// Provides an agent's certificate before its first run. Called from several threads.
    std::function<base::Result<agent::SslFiles>(const std::string& name)> certificate;
    /// Called about once a second during the run. Returns false to stop the pool.
    std::function<bool(double seconds)> tick;
};

class AgentPool {
public:
    AgentPool(const AgentProfile& profile, AgentPoolOptions options);
    ~AgentPool();

    /// Prepares the certificates of all agents. On failure no agent starts, and the first error is
    /// returned.
    base::Result<void> prepare();
    /// Runs until all runs are complete, the duration ends or the pool is stopped. Returns the
    /// elapsed seconds.
    double run();
    bool interrupted() const;
    std::vector<std::unique_ptr<Agent>>& agents();

private:
    struct Impl;
    std::unique_ptr<Impl> impl_;
};

/// Returns a name such as "agent-{}.example.org" with the number inserted, padded to the number of
/// digits of `most`.
std::string numbered_name(std::string_view pattern, std::size_t number, std::size_t most);

}  // namespace bunraku::load
