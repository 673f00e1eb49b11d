// SPDX-License-Identifier: Apache-2.0
// The impact of a change on a fleet: which nodes it affects, how, and why
// (docs/design/0140).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "compile/insight/changes.h"
#include "compile/site/fleet_facts.h"
#include "compile/site/site.h"
#include "core/base/diagnostic.h"
#include "resources/catalog/diff_filter.h"

namespace bunraku::insight {

/// One of the compared states.
struct State {
    std::string label;  ///< name that the user gave
    /// Returns a new request with its own arena; the node and its facts are not set.
    std::function<site::NodeRequest()> request;
    /// Changes the request of each node after its facts are set. May be null.
    std::function<void(site::NodeRequest&)> adjust;
};

/// Returns the request for one node of a fleet in a state.
site::NodeRequest request_for(const State& state, const site::FleetNode& node);

/// The result for one node.
enum class Verdict : std::uint8_t {
    Untouched,  ///< the compile read nothing that changed
    Same,       ///< compiled in both states without a difference
    Changed,
    Fails,           ///< worked before
    FailsOtherwise,  ///< failed before with another error
    FailsAsBefore,
    WorksAgain,  ///< failed before
    Unjudged     ///< not examined
};
/// Returns "untouched", "same", "changed", "fails", "fails otherwise", "fails as before", "works
/// again" or "not judged".
std::string_view verdict_name(Verdict verdict);

/// An input that causes a group.
struct Cause {
    std::string input;  ///< such as "data/common.yaml#ntp::servers"
    std::string path;   ///< relative to the environment; empty if it is not a file
    int line = 0;       ///< first changed line, in the new state; 0 if unknown
    /// such as "class ntp"; empty for the main manifest or if there is no reader
    std::string reader;
    /// location of the reader, such as "modules/ntp/manifests/init.pp:3"; empty if unknown
    std::string place;
    /// classes that include the reader, innermost first, such as "profile::base:12"
    std::vector<std::string> via;
    /// True if the group disappears without this input: an experiment showed it, or the node reads
    /// no other changed input.
    bool proven = false;
    std::string text() const;
    /// Returns the reader and the classes that include it, innermost first.
    std::vector<std::string> hops() const;
};

/// A change that several nodes share. If the nodes differ in their own names or addresses, these
/// appear as "%{facts...}".
struct Group {
    Change change;
    std::vector<std::uint32_t> nodes;  ///< indexes into Impact::nodes
    std::vector<Cause> because;        ///< empty if unknown
    std::string key;                   ///< key that all members share
    /// False if the members' texts differ outside of the changed lines.
    bool same_context = true;
};

struct EvaluatedNode {
    std::string name;
    Verdict verdict = Verdict::Unjudged;
    std::string why;                    ///< reason for Unjudged, or the error of a failed compile
    std::vector<std::uint32_t> groups;  ///< indexes into Impact::groups
    /// True if parts of its catalog differ without a change (clock, random numbers).
    bool varies = false;
};

struct Impact {
    std::string from, to, root;
    std::string with;  ///< label of a second change; empty if there is none
    std::vector<EvaluatedNode> nodes;
    std::vector<Group> groups;       ///< errors first, then by number of nodes
    std::vector<std::string> notes;  ///< notes for the reader of the report
    std::size_t compiled_before = 0, compiled_after = 0, tried = 0;
    double first_seconds = 0,
           seconds = 0;  ///< from Comparison::began to the first group and to the end

    std::size_t count(Verdict verdict) const;
};
/// Sorts the groups: errors first, then by number of nodes. Sets the groups of each node.
void sort_groups(Impact& impact);

struct Comparison {
    State from, to;
    bool everything = false;  ///< True to compile every node in both states, whatever it reads.
    bool chance = false;      ///< True to report differences that occur without a change.
    bool because = true;      ///< True to find the causes of groups.
    std::vector<catalog::IgnorePattern> ignored;
    /// Keys of groups whose causes the caller knows; these get none. May be null.
    const std::set<std::string>* explained = nullptr;
    /// After a request to stop, the remaining nodes are Unjudged, and no more causes are found.
    std::stop_token stop = {};
    /// The folder that caches the reads of nodes between runs. Empty disables the cache.
    std::string keep;
    std::chrono::steady_clock::time_point began = std::chrono::steady_clock::now();
    /// Reports progress: the number of judged nodes, the number of all nodes, and the groups so
    /// far, the newest last. Several threads call it, one at a time.
    std::function<void(std::size_t, std::size_t, std::span<const Group>)> progress;
};

/// Compiles and compares on the site's threads. Throws base::PuppetError if a state cannot be
/// opened; an error of one node is in its result.
Impact impact(site::Site& site, const Comparison& comparison,
              std::span<const site::FleetNode> nodes);

}  // namespace bunraku::insight
