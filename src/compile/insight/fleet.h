// What the traces of a fleet tell: who reads an input, what nobody reads, and what keeps compiles
// from being known by what they read.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compile/insight/impact.h"

namespace bunraku::insight {

/// A node that reads something, and where it does so first.
struct NodeReader {
    std::string node;
    std::string input;   ///< as Input::name has it
    std::string reader;  ///< "class ntp"; empty: the main manifest, or not known
    std::string place;
};

struct Readers {
    std::vector<NodeReader> readers;  ///< by input, then in the order of the nodes
    std::size_t nodes = 0;            ///< looked at
    std::vector<std::string> failed;  ///< of these only what they read before they failed
};
/// Who reads `input`: a path below the environment, "PATH#KEY", a Hiera key, "class a::b" or
/// "a::b", "define ..", "function ..", "fact os.family". Throws where the state cannot be opened.
Readers readers(site::Site& site, const State& state, std::span<const site::FleetNode> nodes,
                std::string_view input);

/// Something that is there and that nobody of the fleet reads.
struct Dead {
    std::string
        kind;  ///< "class", "define", "function", "type", "key", "data file", "template", "file"
    std::string name;
    std::string path;  ///< below the environment
    int line = 0;
};
struct DeadInputs {
    std::vector<Dead> dead;  ///< by kind, path and name
    std::size_t nodes = 0;
    std::vector<std::string> failed;  ///< what these would read is not known
};
/// Of the modules and the data below the environment's folder.
DeadInputs dead(site::Site& site, const State& state, std::span<const site::FleetNode> nodes);

/// A kind of read of which a trace cannot say whether it changed.
struct NonDeterministicRead {
    std::string kind, name, place;
    std::vector<std::string> nodes;
};
struct Doctor {
    std::vector<NonDeterministicRead> nondeterministic;  ///< what most nodes have first
    std::vector<Group> differs;  ///< with `twice`: what two compiles of one state do not agree on
    std::vector<std::string> names;  ///< of the nodes that the groups name by number
    std::size_t nodes = 0;
    std::vector<std::string> failed;
};
Doctor doctor(site::Site& site, const State& state, std::span<const site::FleetNode> nodes,
              bool twice);

}  // namespace bunraku::insight
