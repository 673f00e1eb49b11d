// Where what a node's catalog has comes from, and why something is not in it: told of one compile
// that is watched (docs/design/0190-explain.md).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "compile/insight/impact.h"

namespace bunraku::insight {

/// One sentence, and what it rests on.
struct Reason {
    /// "attribute", "override", "resource default", "default", "collector", "relation", "import",
    /// "classifier", "data", "level", "variable", "argument", "parameter", "title", "fact",
    /// "trusted", "setting", "call", "condition", "declaration", "class", "inclusion", ...
    std::string kind;
    std::string text;        ///< without the place
    std::string name;        ///< of the parameter, the variable, the key, the fact
    std::string expression;  ///< the code
    std::string value;       ///< in JSON; empty: there is none, or it is not to be shown
    std::string file;        ///< below the environment's folder without it
    int line = 0;
    std::vector<Reason> because;
};

struct ExplainQuestion {
    std::string reference;  ///< "File[/etc/ntp.conf]"
    std::string parameter;  ///< empty: all, and how it came to be declared
    bool missing = false;   ///< why it is not there
};

struct Explanation {
    std::vector<Reason> reasons;
    bool found = false;  ///< what was asked for is there
    std::string error;   ///< the compile ended with it: what is told is what happened until then
};

/// Compiles the node once. Throws base::PuppetError where the state cannot be opened or the
/// question means nothing.
Explanation explain(site::Site& site, const State& state, const site::FleetNode& node,
                    const ExplainQuestion& question);

/// The same of every resource of its catalog, by one compile: `tell` is called for each as long as
/// it says true. Every parameter is told in full, though another one has told of its sources
/// before. Gives the error that the compile ended with; empty: none.
std::string explain_all(
    site::Site& site, const State& state, const site::FleetNode& node,
    const std::function<bool(const ExplainQuestion&, const Explanation&)>& tell);

std::string explanation_text(const Explanation& explanation);
std::string explanation_json(const Explanation& explanation, std::string_view node,
                             const ExplainQuestion& question);

}  // namespace bunraku::insight
