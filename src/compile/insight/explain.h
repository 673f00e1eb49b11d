// SPDX-License-Identifier: Apache-2.0
// Explains where the contents of a node's catalog originate, and why something is missing. Records
// one compile of the node (docs/design/0190).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "compile/insight/impact.h"

namespace bunraku::insight {

/// A statement about the catalog and the reasons for it.
struct Reason {
    /// "attribute", "override", "resource default", "default", "collector", "relation", "import",
    /// "classifier", "data", "level", "variable", "argument", "parameter", "title", "fact",
    /// "trusted", "setting", "call", "condition", "declaration", "class", "inclusion", ...
    std::string kind;
    std::string text;        ///< without the location
    std::string name;        ///< of the parameter, variable, key or fact
    std::string expression;  ///< the code
    std::string value;       ///< JSON; empty if the value is missing or must not be shown
    std::string file;        ///< relative to the environment's folder if below it
    int line = 0;
    std::vector<Reason> because;
};

struct ExplainQuestion {
    std::string reference;  ///< "File[/etc/ntp.conf]"
    std::string parameter;  ///< if empty, explains the declaration and all parameters
    bool missing = false;   ///< True to ask why the resource is missing.
};

struct Explanation {
    std::vector<Reason> reasons;
    bool found = false;  ///< True if the catalog has what the question asks for.
    /// Error that ended the compile. The reasons then only cover the part before it.
    std::string error;
};

/// Compiles the node once. Throws base::PuppetError if the state cannot be opened or the question
/// is invalid.
Explanation explain(site::Site& site, const State& state, const site::FleetNode& node,
                    const ExplainQuestion& question);

/// Explains every resource of the catalog with one compile. Calls `report` for each of them until
/// it returns false. Explains every parameter in full, even if another parameter has the same
/// sources. Returns the error of the compile; empty if there is none.
std::string explain_all(
    site::Site& site, const State& state, const site::FleetNode& node,
    const std::function<bool(const ExplainQuestion&, const Explanation&)>& report);

std::string explanation_text(const Explanation& explanation);
std::string explanation_json(const Explanation& explanation, std::string_view node,
                             const ExplainQuestion& question);

}  // namespace bunraku::insight
