// SPDX-License-Identifier: Apache-2.0
// Lock files that allow one run at a time, or none if an operator has disabled the agent. Puppet's
// agents and other tools use the same files (agent/locker.rb, agent/disabler.rb of 8.11).
#pragma once

#include <optional>
#include <string>

#include "core/base/result.h"
#include "core/config/settings.h"
#include "core/sys/lock.h"

namespace bunraku::agent {

/// The file agent_catalog_run_lockfile, which contains the id of the process that applies a
/// catalog.
class RunLock {
public:
    explicit RunLock(const config::Settings& settings)
        : path_(settings.text("agent_catalog_run_lockfile")), lock_(path_) {}
    const std::string& path() const { return path_; }
    /// Returns false if another run of this agent or of a Puppet agent is in progress.
    base::Result<bool> acquire();
    void release() { lock_.release(); }

private:
    std::string path_;
    sys::PidLock lock_;
};

/// Returns the reason why runs are disabled, or nullopt if they are enabled. Returns "" if the file
/// contains no reason.
std::optional<std::string> disabled(const config::Settings& settings);
base::Result<void> disable(const config::Settings& settings, const std::string& reason);
base::Result<void> enable(const config::Settings& settings);

/// Reports whether the process exists and is an agent, according to its command line.
bool is_agent(int pid);

}  // namespace bunraku::agent
