// SPDX-License-Identifier: Apache-2.0
// The facts of all nodes of a fleet, from any source.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "compile/site/site.h"
#include "resources/facts/documents.h"

namespace bunraku::site {

/// One node of a fleet.
struct FleetNode {
    std::string name;
    value::Value facts;    ///< a hash
    value::Value trusted;  ///< data of its certificate if the source has it, or undef
    /// file with facts that have not been read; empty if they have been read
    std::string file;
    std::string stamp;  ///< stamp of `file`; empty if it has none
};

/// A fact file with a single node.
struct FactFile {
    std::string name, stamp, node;
};
/// The fact files of a folder, by name.
struct FactIndex {
    std::vector<FactFile> files;
    bool changed = false;  ///< True if the folder differs from the index that was passed in.
};

/// Returns the node with its facts. Reads them into `arena` if necessary. Throws.
FleetNode with_facts(base::Arena& arena, const FleetNode& node);

/// The parts of a fleet that could not be read.
struct FleetGaps {
    std::vector<std::string> unknown;  ///< requested nodes without facts
    /// Nodes with an unreadable fact file, named after it, and the reason.
    std::vector<std::pair<std::string, std::string>> unreadable;
    /// Nodes with several files in a folder. The newest file is used.
    struct Twice {
        std::string node, used, passed_over;  ///< file names
    };
    std::vector<Twice> twice;
    std::string broken;  ///< error that ended the source early; empty if there was none
};

/// Returns the facts of a fleet. `source` is one of:
/// - "http://..", "https://..": a PuppetDB-compatible service: the factsets of its active nodes;
/// - "store": the store that the settings name, a service or the embedded one;
/// - "sqlite:FILE", "postgresql://..": a database of the embedded store;
/// - a file: an archive as `puppet db export` makes it (tar.gz), or a form that
///   facts::read_documents accepts;
/// - a folder: every *.json, *.yaml and *.yml in it.
/// If `wanted` is empty, returns all nodes. Sorts by name if the source has no order. Allocates
/// values in `arena`. Throws base::PuppetError, also for an unknown node in `wanted`. If `gaps` is
/// not null, records unknown nodes there, and also the error of a source that fails after some
/// nodes. With `index`, does not read files of a folder that match the index, and updates the
/// index.
std::vector<FleetNode> fleet_facts(base::Arena& arena, Site& site, const std::string& source,
                                   const std::vector<std::string>& wanted, base::LogSink& log,
                                   FleetGaps* gaps = nullptr, FactIndex* index = nullptr);

/// Returns the distinct nodes of a PQL query (rows with a certname). `source` is as above, but must
/// be a service or a database. Throws.
std::vector<std::string> fleet_names(Site& site, const std::string& source, const std::string& pql,
                                     base::LogSink& log);

/// Returns when the last report or facts of each active node came, in milliseconds since the epoch.
/// `source` is as above. Returns nothing if it is neither a service nor a database. Throws.
std::map<std::string, std::int64_t> fleet_contacts(Site& site, const std::string& source,
                                                   base::LogSink& log);

/// Returns the facts of every file in a folder. If a file does not contain the node's name, the
/// name of the file is used. Throws.
std::vector<facts::NodeFacts> facts_in_folder(base::Arena& arena, const std::string& folder);

}  // namespace bunraku::site
