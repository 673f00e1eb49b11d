// The facts of many nodes at once, from wherever a fleet keeps them.
#pragma once

#include <string>
#include <vector>

#include "compile/site/site.h"
#include "resources/facts/documents.h"

namespace bunraku::site {

/// One node of a fleet.
struct FleetNode {
    std::string name;
    value::Value facts;    ///< a hash
    value::Value trusted;  ///< what its certificate says, where the source knows that; else undef
    std::string file;      ///< where its facts are, which were not read so far; empty: they were
    std::string stamp;     ///< of that file; empty: it has none
};

/// A fact file that is of one node.
struct FactFile {
    std::string name, stamp, node;
};
/// Those of a folder, by name.
struct FactIndex {
    std::vector<FactFile> files;
    bool changed = false;  ///< the folder is not as it was said to be
};

/// The node with its facts, in `arena` where they have to be read. Throws.
FleetNode with_facts(base::Arena& arena, const FleetNode& node);

/// What of a fleet could not be had.
struct FleetGaps {
    std::vector<std::string> unknown;  ///< nodes asked for, without facts
    /// Nodes whose fact file cannot be read, by its name, with the reason.
    std::vector<std::pair<std::string, std::string>> unreadable;
    /// Nodes of which a folder has several files: the newest is used.
    struct Twice {
        std::string node, used, passed_over;  ///< names of files
    };
    std::vector<Twice> twice;
    std::string broken;  ///< why the source ended before its end; empty: it did not
};

/// `source`:
/// - "http://..", "https://..": a PuppetDB-compatible service: the factsets of its active nodes;
/// - "store": the store that the settings name, a service or the embedded one;
/// - "sqlite:FILE", "postgresql://..": a database of the embedded store;
/// - a file: an archive as `puppet db export` makes it (tar.gz), or facts::read_documents' forms;
/// - a folder: every *.json, *.yaml and *.yml in it.
/// `wanted`: only these; empty: all. Ordered by name where the source has no order. Values are made
/// in `arena`. Throws base::PuppetError, also where a node of `wanted` is not known; with
/// `gaps` that is told there, and so is a source that gives some nodes and then fails. With `index`
/// the files of a folder that are as it says are not read, and it says then what is there.
std::vector<FleetNode> fleet_facts(base::Arena& arena, Site& site, const std::string& source,
                                   const std::vector<std::string>& wanted, base::LogSink& log,
                                   FleetGaps* gaps = nullptr, FactIndex* index = nullptr);

/// The nodes that a PQL query names (rows with a certname), each once. `source` as above, if it can
/// be asked: a service or a database. Throws.
std::vector<std::string> fleet_names(Site& site, const std::string& source, const std::string& pql,
                                     base::LogSink& log);

/// The facts of every file of a folder. What does not say whose it is bears the name of the file.
/// Throws.
std::vector<facts::NodeFacts> facts_in_folder(base::Arena& arena, const std::string& folder);

}  // namespace bunraku::site
