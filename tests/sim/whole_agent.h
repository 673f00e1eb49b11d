// An agent as it is, agent::run, on a machine of the simulation: what its catalog says is done to
// the files of its disk.
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
        std::string folder;  ///< what is managed is below FOLDER/root
        std::string name;
    };
    explicit WholeAgent(Machine machine) : machine_(std::move(machine)) {}
    /// Everything that it knows is on its disk, which is there now. What was not synced is gone
    /// after a loss of power.
    void begin_life(std::string folder, bool power_lost);

    struct Outcome {
        int status = -1;      ///< Puppet's bits; -1: no catalog was applied
        bool cached = false;  ///< the catalog was the last one for want of another
        bool rests = false;   ///< the server said that the last one is right
        std::string problem;  ///< the first error that was told
        std::string report;  ///< transaction_uuid of the report that was acknowledged; may be empty
    };
    /// One run with facts that changed so many times.
    Outcome run(const agent::SslFiles& ssl, std::uint64_t changes);

    /// The version that all files below the root are of, of this node with so many changes;
    /// else what is wrong with them.
    base::Result<int> version(std::uint64_t changes) const;
    /// A managed file that is there and not whole; nullopt: none.
    std::optional<std::string> torn() const;
    /// Somebody spoils what is managed; `draw` gives a number below another. Contents that were
    /// put there are to be found in the bucket once they are replaced.
    void drift(const std::function<std::uint64_t(std::uint64_t)>& draw);
    /// Contents of drift() that are gone from the machine and are not in the bucket.
    std::vector<std::string> lost() const;

private:
    std::string root() const { return machine_.folder + "/root"; }
    Machine machine_;
    int drifts_ = 0;
    std::map<std::string, std::string> spoilt_;  ///< a file below the root, what was put there
};

}  // namespace bunraku::sim
