// One run at a time, and none where an operator says so: the lock files that Puppet's agents and
// those who look after them know (agent/locker.rb, agent/disabler.rb of 8.11).
#pragma once

#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/config/settings.h"
#include "core/sys/lock.h"

namespace bunraku::agent {

/// agent_catalog_run_lockfile: the number of the process that applies a catalog.
class RunLock {
public:
    explicit RunLock(const config::Settings& settings)
        : path_(settings.text("agent_catalog_run_lockfile")), lock_(path_) {}
    const std::string& path() const { return path_; }
    /// False: another run is under way, ours or that of a Puppet agent.
    base::Result<bool> acquire();
    void release() { lock_.release(); }

private:
    std::string path_;
    sys::PidLock lock_;
};

/// The reason why no run may be made; nullopt: they may. A file without one gives "".
std::optional<std::string> disabled(const config::Settings& settings);
base::Result<void> disable(const config::Settings& settings, const std::string& reason);
base::Result<void> enable(const config::Settings& settings);

/// Whether the process exists and is an agent, by what its command line says.
bool is_agent(int pid);

}  // namespace bunraku::agent
