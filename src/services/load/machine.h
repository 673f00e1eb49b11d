// SPDX-License-Identifier: Apache-2.0
// Simulated machines: the facts of a template with different names and addresses, and with the
// changes of a running machine.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "core/base/arena.h"
#include "core/base/result.h"
#include "core/value/value.h"

namespace bunraku::load {

/// A choice such as "role=web|db|mail". The values are assigned to agents in rotation; a change
/// selects the next value.
struct FactChoice {
    std::vector<std::string> path;    ///< for example the path of "os.family"
    std::vector<std::string> values;  ///< JSON, or otherwise a string
    static base::Result<FactChoice> parse(std::string_view text);
};

/// The identity and the state of a simulated machine.
struct MachineState {
    std::string name;           ///< certname
    std::uint64_t number = 0;   ///< number of the agent, from 0
    std::uint64_t changes = 0;  ///< number of changes of its facts
    std::int64_t uptime_seconds = 0;
};

/// Returns the template's facts for that machine. Replaces every string that looks like a name, an
/// address or a number of one machine. The fact `simulated_changes` counts the changes.
value::Value machine_facts(base::Arena& arena, const value::Value& model,
                           const std::vector<FactChoice>& choices, const MachineState& state);

}  // namespace bunraku::load
