// SPDX-License-Identifier: Apache-2.0
// Analyses of the traces of a fleet: the readers of an input, unused inputs, and reads that prevent
// cached catalogs.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compile/insight/impact.h"

namespace bunraku::insight {

/// A node that reads an input, and the location of its first read.
struct NodeReader {
    std::string node;
    std::string input;   ///< as in Input::name
    std::string reader;  ///< such as "class ntp"; empty for the main manifest or if unknown
    std::string place;
};

struct Readers {
    std::vector<NodeReader> readers;  ///< ordered by input, then in the order of the nodes
    std::size_t nodes = 0;            ///< number of nodes examined
    /// nodes whose compile failed; only the reads before the error are known
    std::vector<std::string> failed;
};
/// Returns the readers of `input`: a path relative to the environment, "PATH#KEY", a Hiera key,
/// "class a::b" or "a::b", "define ..", "function ..", "fact os.family". Throws if the state cannot
/// be opened.
Readers readers(site::Site& site, const State& state, std::span<const site::FleetNode> nodes,
                std::string_view input);

/// An input that no node of the fleet reads.
struct Dead {
    std::string
        kind;  ///< "class", "define", "function", "type", "key", "data file", "template", "file"
    std::string name;
    std::string path;  ///< relative to the environment
    int line = 0;
};
struct DeadInputs {
    std::vector<Dead> dead;  ///< ordered by kind, path and name
    std::size_t nodes = 0;
    std::vector<std::string> failed;  ///< nodes whose compile failed; their reads are unknown
};
/// Returns unused inputs in the modules and the data below the environment's folder.
DeadInputs dead(site::Site& site, const State& state, std::span<const site::FleetNode> nodes);

/// A kind of read whose changes a trace cannot detect.
struct NonDeterministicRead {
    std::string kind, name, place;
    std::vector<std::string> nodes;
};
struct Doctor {
    std::vector<NonDeterministicRead> nondeterministic;  ///< those of the most nodes first
    /// with `twice`: differences between two compiles of the same state
    std::vector<Group> differs;
    std::vector<std::string> names;  ///< names of the nodes, to which the groups refer by index
    std::size_t nodes = 0;
    std::vector<std::string> failed;
};
Doctor doctor(site::Site& site, const State& state, std::span<const site::FleetNode> nodes,
              bool twice);

}  // namespace bunraku::insight
