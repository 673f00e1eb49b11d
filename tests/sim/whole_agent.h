// SPDX-License-Identifier: Apache-2.0
// A real agent (agent::run) on a simulated machine. It applies its catalogs to the files on the
// machine's disk.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/base/result.h"
#include "core/config/settings.h"
#include "core/sys/system.h"
#include "net/http/network.h"
#include "services/agent/ssl.h"

namespace bunraku::sim {

class WholeAgent {
public:
    struct Machine {
        const config::Settings& settings;
        http::Network& network;
        sys::System& system;
        std::function<bool()> stopped;
        std::string folder;  ///< managed files are below FOLDER/root
        std::string name;
        /// Called in each run between the synchronization of plugins and the request for a catalog.
        std::function<void()> with_facts;
    };
    explicit WholeAgent(Machine machine) : machine_(std::move(machine)) {}
    /// Starts a new life of the agent, whose whole state is in `folder`. After a power loss,
    /// unsynced writes are lost.
    void begin_life(std::string folder, bool power_lost);

    struct Outcome {
        int status = -1;  ///< exit status as in Puppet; -1 if no catalog was applied
        /// true if the agent used its cached catalog because it could not get a new one
        bool cached = false;
        /// true if the server reported that the last catalog is still current
        bool catalog_unchanged = false;
        std::string problem;  ///< the first logged error
        std::string report;   ///< transaction_uuid of the acknowledged report; may be empty
    };
    /// Runs the agent once, with facts that have changed `changes` times.
    Outcome run(const agent::SslFiles& ssl, std::uint64_t changes);

    /// Returns the version of the code that all files below the root and the plugin belong to, for
    /// this node and `changes`. Returns an error that names the wrong file if there is no such
    /// version.
    base::Result<int> version(std::uint64_t changes) const;
    /// Returns the name of a managed file that is incomplete, or nullopt.
    std::optional<std::string> torn() const;
    /// Damages a managed file at random; `draw(n)` returns a number below n. When the agent
    /// replaces the damaged content, it must save that content in the bucket.
    void drift(const std::function<std::uint64_t(std::uint64_t)>& draw);
    /// Returns the files whose content from drift() is neither on the machine nor in the bucket.
    std::vector<std::string> lost() const;

private:
    std::string root() const { return machine_.folder + "/root"; }
    Machine machine_;
    int drifts_ = 0;
    /// maps a file below the root to the content that drift() wrote
    std::map<std::string, std::string> damaged_;
};

}  // namespace bunraku::sim
