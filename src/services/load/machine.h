// Machines that do not exist: the facts of a template with another name, other addresses, and what
// changes on a machine while it runs.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/arena.h"
#include "core/base/result.h"
#include "core/value/value.h"

namespace bunraku::load {

/// "role=web|db|mail": agents have these values by turns, and take the next where they change.
struct FactChoice {
    std::vector<std::string> path;    ///< of "os.family"
    std::vector<std::string> values;  ///< JSON, or else a text
    static base::Result<FactChoice> parse(std::string_view text);
};

/// Which machine it is, and what has happened to it.
struct MachineState {
    std::string name;           ///< its certificate's
    std::uint64_t number = 0;   ///< among the agents, from 0
    std::uint64_t changes = 0;  ///< how often its facts have changed
    std::int64_t uptime_seconds = 0;
};

/// The template's facts as that machine would tell them. Every string that looks like a name, an
/// address or a number of this one machine is another one; `simulated_changes` counts.
value::Value machine_facts(base::Arena& arena, const value::Value& model,
                           const std::vector<FactChoice>& choices, const MachineState& state);

}  // namespace bunraku::load
