// What a change does to a fleet: which nodes it touches, what becomes of them, and why
// (docs/design/0140-impact.md).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compile/insight/changes.h"
#include "compile/site/fleet_facts.h"
#include "compile/site/site.h"
#include "core/base/diagnostic.h"
#include "resources/catalog/diff_filter.h"

namespace bunraku::insight {

/// One of the states that are compared.
struct State {
    std::string label;  ///< as its user names it
    /// A request of it: all but the node and its facts, in an arena of its own.
    std::function<site::NodeRequest()> request;
    /// What is otherwise for each node, once its facts are in the request; null: nothing.
    std::function<void(site::NodeRequest&)> adjust;
};

/// A request for one node of a fleet in a state.
site::NodeRequest request_for(const State& state, const site::FleetNode& node);

/// What was found out of a node.
enum class Verdict : std::uint8_t {
    Untouched,  ///< its compile read nothing that changed
    Same,       ///< it was compiled on both sides: nothing differs
    Changed,
    Fails,           ///< worked before
    FailsOtherwise,  ///< failed before, with another error
    FailsAsBefore,
    WorksAgain,  ///< failed before
    Unjudged     ///< it was not looked at
};
/// "untouched", "same", "changed", "fails", "fails otherwise", "fails as before", "works again",
/// "not judged".
std::string_view verdict_name(Verdict verdict);

/// An input that a group stems from.
struct Cause {
    std::string input;   ///< "data/common.yaml#ntp::servers"
    std::string path;    ///< below the environment; empty: no file
    int line = 0;        ///< the first that changed, in the new state; 0: not known
    std::string reader;  ///< "class ntp"; empty: the main manifest or nobody
    std::string place;   ///< of the reader: "modules/ntp/manifests/init.pp:3"; empty: not known
    std::vector<std::string> via;  ///< who included it, the nearest first: "profile::base:12"
    /// Without it the group is gone: it was tried, or nothing else that the node reads changed.
    bool proven = false;
    std::string text() const;
    /// The reader and who included it, the nearest first.
    std::vector<std::string> hops() const;
};

/// A change that some nodes have in common; what is a node's own stands as "%{facts...}" where they
/// differ in it.
struct Group {
    Change change;
    std::vector<std::uint32_t> nodes;  ///< by position in Impact::nodes
    std::vector<Cause> because;        ///< empty: not found out
    std::string key;                   ///< what its members have in common
    /// False if the texts of its members differ outside of the lines that change.
    bool same_context = true;
};

struct EvaluatedNode {
    std::string name;
    Verdict verdict = Verdict::Unjudged;
    std::string why;                    ///< of Unjudged; of those that fail, the error
    std::vector<std::uint32_t> groups;  ///< by position in Impact::groups
    bool varies = false;  ///< its catalog has what differs without a change (the clock, chance)
};

struct Impact {
    std::string from, to, root;
    std::string with;  ///< the other change; empty: there is none
    std::vector<EvaluatedNode> nodes;
    std::vector<Group> groups;       ///< errors first, then what most nodes have
    std::vector<std::string> notes;  ///< what readers should know
    std::size_t compiled_before = 0, compiled_after = 0, tried = 0;
    double first_seconds = 0,
           seconds = 0;  ///< since Comparison::began: to the first group, to the end

    std::size_t count(Verdict verdict) const;
};

struct Comparison {
    State from, to;
    bool everything = false;  ///< nodes are compiled on both sides whatever they read
    bool chance = false;      ///< what differs without a change is a change, too
    bool because = true;      ///< find out what groups stem from
    std::vector<catalog::IgnorePattern> ignored;
    /// The folder in which what nodes read is kept between runs; empty: nothing is.
    std::string keep;
    std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();
    /// Told now and then, from several threads one at a time: nodes judged, of how many, and the
    /// groups so far, the newest last.
    std::function<void(std::size_t, std::size_t, std::span<const Group>)> progress;
};

/// Compiles and compares on the site's threads. Throws base::PuppetError where a state cannot be
/// opened; what concerns a node is in its verdict.
Impact impact(site::Site& site, const Comparison& comparison,
              std::span<const site::FleetNode> nodes);

}  // namespace bunraku::insight
